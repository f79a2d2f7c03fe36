// Which bytes are allowed where in an HTTP/1.x message.

export const CR = 0x0d;
export const LF = 0x0a;
export const SPACE = 0x20;
const TAB = 0x09;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;

/** 1 for bytes allowed in a field value, a reason phrase or a chunk extension: no control characters except tab. */
export const TEXT_BYTES = tableOf((byte) => (byte === TAB || (byte >= SPACE && byte !== 0x7f) ? 1 : 0));

/** The lower-case form of bytes allowed in a field name, 0 for all others. */
export const NAME_BYTES = tableOf((byte) => {
  const character = String.fromCharCode(byte);
  return /[\w!#$%&'*+.^`|~-]/.test(character) ? character.toLowerCase().charCodeAt(0) : 0;
});

/** The value of a hexadecimal digit, 16 for all other bytes. */
export const HEX_DIGITS = tableOf((byte) => {
  const character = String.fromCharCode(byte);
  return /[\da-f]/i.test(character) ? Number.parseInt(character, 16) : 16;
});

function tableOf(entry: (byte: number) => number): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => entry(byte));
}
