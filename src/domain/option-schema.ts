// How settings and options are declared, besides TypeBox; the type of a JSON schema node.
import type { TSchemaOptions, TString } from 'typebox';
import { Type } from './typebox.ts';

export const closed = { additionalProperties: false } as const;

export function whole(minimum: number, maximum: number, fallback?: number) {
  return Type.Integer({ minimum, maximum, ...(fallback === undefined ? {} : { default: fallback }) });
}

/** A string that `test` accepts; `is` says in the error what would be right. */
export function text(is: string, test: (value: string) => boolean, options: TSchemaOptions = {}) {
  return Type.Refine(Type.String({ ...options, is }), test, () => is);
}

export function matching(is: string, pattern: RegExp, options: TSchemaOptions = {}) {
  return text(is, (value) => pattern.test(value), options);
}

/**
 * An option that is never displayed: configured as a string, `{ env: NAME }` or `{ file: PATH }`.
 * The protocol gets one line of printable ASCII, which is valid in a header.
 */
export function secret(description: string): TString {
  return Type.String({ minLength: 1, secret: true, description });
}

/** Whether a schema was made by `secret`. */
export function isSecret(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'secret' in schema && schema.secret === true;
}

export interface SchemaNode {
  readonly type?: string;
  /** What messages call a value of this node. */
  readonly is?: string;
  readonly description?: string;
  readonly format?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly multipleOf?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly required?: readonly string[];
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
}
