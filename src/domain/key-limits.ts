// Limits of a single key: their bounds, what becomes of them when they are changed, and the addresses that a key is allowed from.
import { isIP, SocketAddress } from 'node:net';

/** A member is absent where the key has no such limit. */
export interface KeyLimits {
  /** From this moment on the key is refused. */
  readonly expiresAtMs?: number;
  /** Judged behind the team's rate, by the same rules. */
  readonly requestsPerSecond?: number;
  /** Of the team's period, open reservations included. */
  readonly characters?: number;
  /** Ranges in the form of `canonicalRange`; at least one. */
  readonly allowedAddresses?: readonly string[];
}

/** `null` takes the limit away; what is left out stays. */
export type KeyLimitChange = { readonly [Name in keyof KeyLimits]?: Exclude<KeyLimits[Name], undefined> | null };

/** Like a plan's rate. */
export const KEY_RATE_MAX = 100_000;
/** Like a plan's characters. */
export const KEY_CHARACTERS_MAX = 1_000_000_000_000;
/** The last millisecond of the year 9999, which RFC 3339 can write. */
export const EXPIRES_AT_MAX = 253_402_300_799_999;
/** All of them are compared with the address of each request. */
export const ALLOWED_ADDRESSES_MAX = 100;

export function changedLimits(limits: KeyLimits, change: KeyLimitChange): KeyLimits {
  const merged = Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(merged);
}

export function hasLimits(limits: KeyLimits): boolean {
  return Object.values(limits).some((value) => value !== undefined);
}

/** Of a key that is not revoked. */
export function keyStatus(disabled: boolean, { expiresAtMs }: KeyLimits, nowMs: number): 'active' | 'disabled' | 'expired' {
  if (disabled) return 'disabled';
  return expiresAtMs !== undefined && nowMs >= expiresAtMs ? 'expired' : 'active';
}

/** Whether both say the same, whatever the order of their members. */
export function sameLimits(one: KeyLimits, other: KeyLimits): boolean {
  const text = ({ expiresAtMs, requestsPerSecond, characters, allowedAddresses }: KeyLimits): string =>
    JSON.stringify([expiresAtMs, requestsPerSecond, characters, allowedAddresses]);
  return text(one) === text(other);
}

interface KeptKeys {
  readonly key?: object;
  readonly usage?: { readonly keys: readonly object[] };
}

/** What an event tells of keys, as it was kept before keys had limits: with none. */
export function withLimits<Facts extends object>(facts: Facts): Facts {
  const limited = (key: object): object => ({ limits: {}, ...key });
  const { key, usage }: KeptKeys = facts;
  return {
    ...facts,
    ...(key === undefined ? {} : { key: limited(key) }),
    ...(usage === undefined ? {} : { usage: { ...usage, keys: usage.keys.map(limited) } }),
  };
}

/** The bytes of an address, or of a range's beginning: four of IPv4, sixteen of IPv6. */
export interface AddressRange {
  readonly bytes: Uint8Array;
  /** How many bits, from the first on, an address has in common with `bytes`. */
  readonly bits: number;
}

const IPV4_BYTES = 4;
const IPV6_BYTES = 16;
const BYTE_BITS = 8;
/** How an IPv4 address within IPv6 begins: ten zeros and these. */
const MAPPED_ZEROS = 10;
const MAPPED_BITS = 96;
const NONE = new Uint8Array();

/**
 * `192.0.2.0/24`, `2001:db8::/32`, or an address, which is a range of one; `undefined` for anything else. Bits behind the
 * prefix count for nothing. An IPv4 range within IPv6 is that IPv4 range; no other IPv6 range holds an IPv4 address.
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

/** The one way in which a range is kept and shown: its first address in its shortest form, and its prefix. */
export function canonicalRange(text: string): string | undefined {
  const range = parseRange(text);
  return range === undefined ? undefined : writtenRange(range);
}

export function writtenRange({ bytes, bits }: AddressRange): string {
  if (bytes.length === IPV4_BYTES) return `${bytes.join('.')}/${bits}`;
  const groups = Array.from({ length: IPV6_BYTES / 2 }, (_, i) => (bytes[2 * i]! * 256 + bytes[2 * i + 1]!).toString(16));
  return `${new SocketAddress({ address: groups.join(':'), family: 'ipv6' }).address}/${bits}`;
}

/** Of a request's address; none for what is no address, which no range holds. */
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

/** For stores without an own form of ranges. */
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

/** A byte whose first bits are set. */
function maskOf(bits: number): number {
  return 256 - 2 ** (BYTE_BITS - bits);
}

function isMapped(bytes: Uint8Array): boolean {
  if (bytes.length !== IPV6_BYTES || bytes[MAPPED_ZEROS] !== 255 || bytes[MAPPED_ZEROS + 1] !== 255) return false;
  return bytes.subarray(0, MAPPED_ZEROS).every((byte) => byte === 0);
}

/** `undefined` for what is no address. One with a zone names an interface of a machine, and is none that a peer has. */
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

/** The bytes of groups between colons, of which the last may be an IPv4 address. */
function groupsOf(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [Math.floor(value / 256), value % 256];
  });
}
