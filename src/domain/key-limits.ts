// Limits of a single key: their bounds, how changes merge, and the addresses from which the key may be used.
import { isIP, SocketAddress } from 'node:net';

/** Members are absent if the key has no such limit. */
export interface KeyLimits {
  /** The key is refused from this moment on. */
  readonly expiresAtMs?: number;
  /** Checked after the team's rate, by the same rules. */
  readonly requestsPerSecond?: number;
  /** In the team's period, including open reservations. */
  readonly characters?: number;
  /** Ranges in the form of `canonicalRange`; at least one. */
  readonly allowedAddresses?: readonly string[];
  /** What the key may be used for (domain/scopes.ts); at least one. Without it, everything. */
  readonly scopes?: readonly string[];
  /** By minute to month, as `writtenWindows` (window-limits.ts); never empty. */
  readonly windows?: string;
}

/** Whose limit refused a request. */
export type LimitOwner = 'team' | 'key' | 'tag';
/** The same for a refusal of any kind: `test_keys` is the plan's allowance for test keys. */
export type RefusingLimit = LimitOwner | 'test_keys';

/** `null` removes a limit; absent members stay unchanged. */
export type KeyLimitChange = { readonly [Name in keyof KeyLimits]?: Exclude<KeyLimits[Name], undefined> | null };

/** Same as a plan's rate. */
export const KEY_RATE_MAX = 100_000;
/** Same as a plan's characters. */
export const KEY_CHARACTERS_MAX = 1_000_000_000_000;
/** The last millisecond of the year 9999, the latest that RFC 3339 can express. */
export const EXPIRES_AT_MAX = 253_402_300_799_999;
/** Limited because each request's address is compared with all of them. */
export const ALLOWED_ADDRESSES_MAX = 100;

export function changedLimits(limits: KeyLimits, change: KeyLimitChange): KeyLimits {
  const merged = Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(merged);
}

export function hasLimits(limits: KeyLimits): boolean {
  return Object.values(limits).some((value) => value !== undefined);
}

/** The status of a key that is not revoked. */
export function keyStatus(disabled: boolean, { expiresAtMs }: KeyLimits, nowMs: number): 'active' | 'disabled' | 'expired' {
  if (disabled) return 'disabled';
  return expiresAtMs !== undefined && nowMs >= expiresAtMs ? 'expired' : 'active';
}

interface KeptKeys {
  readonly key?: object;
  readonly usage?: { readonly keys: readonly object[] };
}

/** The facts of an event stored before keys had limits: adds empty limits. */
export function withLimits<Facts extends object>(facts: Facts): Facts {
  const limited = (key: object): object => ({ limits: {}, ...key });
  const { key, usage }: KeptKeys = facts;
  return {
    ...facts,
    ...(key === undefined ? {} : { key: limited(key) }),
    ...(usage === undefined ? {} : { usage: { ...usage, keys: usage.keys.map(limited) } }),
  };
}

/** The bytes of an address or of the start of a range: four for IPv4, sixteen for IPv6. */
export interface AddressRange {
  readonly bytes: Uint8Array;
  /** The number of leading bits that an address must share with `bytes`. */
  readonly bits: number;
}

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const BYTE_BITS = 8;
/** The prefix of an IPv4-mapped IPv6 address: ten zeros and two bytes of 255. */
const MAPPED_ZEROS = 10;
const MAPPED_BITS = 96;
const NONE = new Uint8Array();

/**
 * Accepts `192.0.2.0/24`, `2001:db8::/32`, or an address as a range of one; `undefined` for anything else. Bits after the
 * prefix are ignored. An IPv4-mapped IPv6 range is treated as the IPv4 range; no other IPv6 range contains IPv4 addresses.
 */
export function parseRange(text: string): AddressRange | undefined {
  const [address = '', prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix))) return undefined;
  const whole = wholeBytesOf(address);
  if (whole === undefined) return undefined;
  const bits = prefix === undefined ? whole.length * BYTE_BITS : Number(prefix);
  if (bits > whole.length * BYTE_BITS) return undefined;
  const range =
    isMapped(whole) && bits >= MAPPED_BITS ? { bytes: whole.subarray(-IPV4_BYTES), bits: bits - MAPPED_BITS } : { bytes: whole, bits };
  return { bytes: masked(range), bits: range.bits };
}

/** The canonical form in which a range is stored and shown: its first address in its shortest form, and its prefix length. */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  return range === undefined ? undefined : writtenRange(range);
}

function writtenRange({ bytes, bits }: AddressRange): string {
  if (bytes.length === IPV4_BYTES) return `${bytes.join('.')}/${bits}`;
  const groups = Array.from({ length: IPV6_BYTES / 2 }, (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16));
  return `${new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address}/${bits}`;
}

/** The bytes of a request's address; empty if it is not an address, which no range contains. */
export function addressBytes(address: string): Uint8Array {
  const whole = wholeBytesOf(address);
  if (whole === undefined) return NONE;
  return isMapped(whole) ? whole.subarray(-IPV4_BYTES) : whole;
}

export function holdsAddress({ bytes, bits }: AddressRange, address: Uint8Array): boolean {
  if (address.length !== bytes.length) return false;
  const whole = Math.floor(bits / BYTE_BITS);
  for (let i = 0; i < whole; i++) if (address[i] !== bytes[i]) return false;
  return whole === bytes.length || ((address[whole]! ^ bytes[whole]!) & maskOf(bits % BYTE_BITS)) === 0;
}

/** For stores that keep ranges as text. */
export function allowsAddress(allowed: readonly string[], address: string): boolean {
  const bytes = addressBytes(address);
  return allowed.some((text) => {
    const range = parseRange(text);
    return range !== undefined && holdsAddress(range, bytes);
  });
}

function masked({ bytes, bits }: AddressRange): Uint8Array {
  return bytes.map((byte, i) => byte & maskOf(Math.min(BYTE_BITS, Math.max(0, bits - i * BYTE_BITS))));
}

/** A byte with its first bits set. */
function maskOf(bits: number): number {
  return 256 - 2 ** (BYTE_BITS - bits);
}

function isMapped(bytes: Uint8Array): boolean {
  if (bytes.length !== IPV6_BYTES || bytes[MAPPED_ZEROS] !== 255 || bytes[MAPPED_ZEROS + 1] !== 255) return false;
  return bytes.subarray(0, MAPPED_ZEROS).every((byte) => byte === 0);
}

/** `undefined` if it is not an address. An address with a zone is rejected: it names a local interface, and no peer has one. */
function wholeBytesOf(address: string): Uint8Array | undefined {
  const version = isIP(address);
  if (version === 4) return Uint8Array.from(address.split('.'), Number);
  if (version !== 6 || address.includes('%')) return undefined;
  const [head = '', tail] = address.split('::');
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const between = Array.from({ length: IPV6_BYTES - front.length - back.length }, () => 0);
  return Uint8Array.from([...front, ...between, ...back]);
}

/** The bytes of colon-separated groups, the last of which may be an IPv4 address. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [Math.floor(value / 256), value % 256];
  });
}
