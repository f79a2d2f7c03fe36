// The building blocks of the configuration's schemas.
import { text } from '../domain/option-schema.ts';
import { Type } from '../domain/typebox.ts';

/** What a reload does with schemas of this folder: take the member, or all of a section. */
export interface Reloading {
  readonly reload?: true | 'members';
}

/** Of members that a reload takes over; others wait for a restart. */
export const reloaded = { reload: true } as const;

/** A section that may be left out: its members have defaults. */
export const section = { additionalProperties: false, default: {} } as const;

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
