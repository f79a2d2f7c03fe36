// The encoding of request ids in Redis: a ULID's 16 bytes instead of its 26 characters.

export const ID_BYTES_MAX = 255;

const ULID_LENGTH = 26;
const ULID_BYTES = 16;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const NO_DIGIT = 255;
/** By character code. */
const DIGITS = Uint8Array.from({ length: 128 }, (_, code) => {
  const digit = ALPHABET.indexOf(String.fromCharCode(code));
  return digit === -1 ? NO_DIGIT : digit;
});
/** The first byte of an id that is not a ULID; it never occurs in UTF-8. */
const OTHER = 0xff;

/**
 * Writes an id after its length, and returns the position after it. An id that is not a canonical ULID is written as text after
 * one byte `OTHER`, or two if it would otherwise be as long as a ULID.
 */
export function writeRequestId(into: Buffer, at: number, id: string): number {
  if (id.length === ULID_LENGTH && writeUlid(into, at + 1, id)) {
    into[at] = ULID_BYTES;
    return at + 1 + ULID_BYTES;
  }
  const length = Buffer.byteLength(id);
  const marks = length === ULID_BYTES - 1 ? 2 : 1;
  if (length + marks > ID_BYTES_MAX) throw new RangeError(`a request id has ${length} bytes: at most ${ID_BYTES_MAX - 2} are allowed`);
  into.fill(OTHER, at + 1, at + 1 + marks);
  into.write(id, at + 1 + marks);
  into[at] = length + marks;
  return at + 1 + marks + length;
}

/** Whether the id was a ULID. 26 digits of 5 bits are 130 bits: the first digit may be at most 7. */
function writeUlid(into: Buffer, at: number, id: string): boolean {
  let bits = 0;
  let value = 0;
  let position = at;
  for (let i = 0; i < ULID_LENGTH; i++) {
    const digit = DIGITS[id.charCodeAt(i)] ?? NO_DIGIT;
    if (digit === NO_DIGIT || (i === 0 && digit > 7)) return false;
    value = (value << 5) | digit;
    bits += i === 0 ? 3 : 5;
    if (bits >= 8) {
      bits -= 8;
      into[position++] = value >> bits;
      value &= (1 << bits) - 1;
    }
  }
  return true;
}

/** Decodes an id that `writeRequestId` has written, without its length. */
export function readRequestId(bytes: Uint8Array): string {
  if (bytes.length === ULID_BYTES) return readUlid(bytes);
  const text = bytes.findIndex((byte) => byte !== OTHER);
  return Buffer.from(bytes.subarray(text === -1 ? bytes.length : text)).toString();
}

function readUlid(bytes: Uint8Array): string {
  let id = '';
  let bits = 2;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      id += ALPHABET[(value >> bits) & 31];
      value &= (1 << bits) - 1;
    }
  }
  return id;
}

/** The bytes of an id in a hash. */
export function requestIdBytes(id: string): Buffer {
  const into = Buffer.alloc(ID_BYTES_MAX + 1);
  return into.subarray(1, writeRequestId(into, 0, id));
}
