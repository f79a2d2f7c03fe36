// How options of engine protocols are declared, besides TypeBox; the type of a JSON schema node.
import type { TString } from 'typebox';
import { Type } from './typebox.ts';

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
