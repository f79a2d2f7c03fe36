// Ids of glossaries: UUIDs here, ULIDs elsewhere. Both are 128 bits, and each is the other one written differently.

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const ULID_LENGTH = 26;
const UUID_DIGITS = 32;

/** The canonical ULID; `undefined` for what is no UUID. */
export function ulidOf(uuid: string): string | undefined {
  if (!UUID.test(uuid)) return undefined;
  let bits = BigInt(`0x${uuid.replaceAll('-', '')}`);
  let ulid = '';
  for (; ulid.length < ULID_LENGTH; bits >>= 5n) ulid = DIGITS.charAt(Number(bits & 31n)) + ulid;
  return ulid;
}

/** Of a canonical ULID. */
export function uuidOf(ulid: string): string {
  let bits = 0n;
  for (const digit of ulid) bits = (bits << 5n) | BigInt(DIGITS.indexOf(digit));
  const hex = bits.toString(16).padStart(UUID_DIGITS, '0');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
