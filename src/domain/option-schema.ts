// What options of engine protocols are declared with, beside TypeBox itself.
import { Type } from 'typebox';
import type { TString } from 'typebox';

/**
 * An option that is never shown. In the configuration it is a string, `{ env: NAME }` or `{ file: PATH }`; the
 * protocol is given the string, which is one line of printable ASCII and so fit for a header.
 */
export function secret(description: string): TString {
  return Type.String({ minLength: 1, secret: true, description });
}

/** Whether a schema was made by `secret`. */
export function isSecret(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && 'secret' in schema && schema.secret === true;
}
