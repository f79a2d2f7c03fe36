// Bytes of a JSON text as a string.
import { isAscii, isUtf8 } from 'node:buffer';

/**
 * Decodes UTF-8; `undefined` if the bytes are none. Validated, because decoding would silently replace bad bytes by U+FFFD, and
 * other characters than those sent would be charged or delivered.
 */
export function utf8Text(bytes: Buffer): string | undefined {
  // Most are ASCII, for which latin1 gives the same text in half the time.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}
