// The building blocks of the configuration's schemas.
import type { TSchemaOptions } from 'typebox';
import { Type } from '../domain/typebox.ts';

/** What a reload does with schemas of this folder: take the member, or all of a section. */
export interface Reloading {
  readonly reload?: true | 'members';
}

/** Of members that a reload takes over; others wait for a restart. */
export const reloaded = { reload: true } as const;

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

export function matching(is: string, pattern: RegExp, options: TSchemaOptions = {}) {
  return text(is, (value) => pattern.test(value), options);
}

/** Written as a string, `{ env: NAME }` or `{ file: PATH }`; only read when the gateway starts: other commands do not need it. */
export function secretValue(options: Reloading = {}) {
  return Type.Unknown({ is: 'a secret', secret: true, ...options });
}

/** Without `fallback` the list is required. */
export function list(
  is: string,
  test: (value: string) => boolean,
  maxItems: number,
  fallback?: readonly string[],
  minItems = 0,
  options: Reloading = {},
) {
  const bounds = { minItems, maxItems, uniqueItems: true, ...options };
  return Type.Array(text(is, test), fallback === undefined ? bounds : { ...bounds, default: fallback });
}
