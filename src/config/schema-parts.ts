// The building blocks of the configuration's schemas.
import type { TSchemaOptions } from 'typebox';
import { Type } from '../domain/typebox.ts';

export const closed = { additionalProperties: false } as const;
/** A section that may be left out: its members have defaults. */
export const section = { additionalProperties: false, default: {} } as const;

export function whole(minimum: number, maximum: number, fallback?: number) {
  return Type.Integer({ minimum, maximum, ...(fallback === undefined ? {} : { default: fallback }) });
}

/** A string that `test` accepts; `is` says in the error what would be right. */
export function text(is: string, test: (value: string) => boolean, options: TSchemaOptions = {}) {
  return Type.Refine(Type.String({ ...options, is }), test, () => is);
}

/** With the pattern as a note, from which the schema of the chart's values has it. */
export function matching(is: string, pattern: RegExp, options: TSchemaOptions = {}) {
  return text(is, (value) => pattern.test(value), { ...options, matches: { source: pattern.source, flags: pattern.flags } });
}

/** Without `fallback` the list is required. */
export function list(is: string, test: (value: string) => boolean, maxItems: number, fallback?: readonly string[], minItems = 0) {
  return Type.Array(text(is, test), { minItems, maxItems, uniqueItems: true, ...(fallback === undefined ? {} : { default: fallback }) });
}
