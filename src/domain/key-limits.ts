// Limits of a single key: their bounds, how changes merge, and the addresses it may be used from.
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

/** The most requests a second, and the most characters, that any limit of a plan, a key, a tag or a window may have. */
export const RATE_MAX = 100_000;
export const CHARACTERS_MAX = 1_000_000_000_000;
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

/**
 * Addresses as text of family and bits, `4.1010…` and `6.0010…`: a range contains those that begin
 * with it. IPv4-mapped IPv6 is IPv4, which no other IPv6 range contains.
 */
const MAPPED = `6.${'0'.repeat(80)}${'1'.repeat(16)}`;

/** Empty for what is no address. One with a zone is none: it names a local interface. */
export function addressBits(address: string): string {
  const version = isIP(address);
  if (version === 4) return `4.${ipv4Bits(address)}`;
  if (version !== 6 || address.includes('%')) return '';
  const [front = '', back] = address.split('::').map((groups) => groups.split(':').map(groupBits).join(''));
  const bits = `6.${front}${back === undefined ? '' : back.padStart(128 - front.length, '0')}`;
  return bits.startsWith(MAPPED) ? `4.${bits.slice(MAPPED.length)}` : bits;
}

function ipv4Bits(address: string): string {
  return address
    .split('.')
    .map((byte) => Number(byte).toString(2).padStart(8, '0'))
    .join('');
}

/** The last group of an IPv6 address may be an IPv4 address. */
function groupBits(group: string): string {
  if (group.includes('.')) return ipv4Bits(group);
  return group === '' ? '' : Number.parseInt(group, 16).toString(2).padStart(16, '0');
}

/**
 * Accepts `192.0.2.0/24`, `2001:db8::/32`, or an address as a range of one; else `undefined`. Bits
 * after the prefix are ignored.
 */
export function rangeBits(text: string): string | undefined {
  const [address = '', prefix, ...more] = text.split('/');
  if (more.length > 0 || (prefix !== undefined && !/^(?:0|[1-9]\d{0,2})$/.test(prefix))) return undefined;
  const bits = addressBits(address);
  if (bits === '') return undefined;
  const most = address.includes(':') ? 128 : 32;
  const length = prefix === undefined ? most : Number(prefix);
  if (length > most) return undefined;
  const isMapped = most === 128 && bits.startsWith('4');
  if (!isMapped) return bits.slice(0, 2 + length);
  return length >= 96 ? bits.slice(0, 2 + length - 96) : MAPPED.slice(0, 2 + length);
}

/** The form in which a range is stored and shown: its first address, shortest, and its length. */
export function canonicalRange(text: string): string | undefined {
  const bits = rangeBits(text);
  if (bits === undefined) return undefined;
  const [size, group, radix, join] = bits.startsWith('4') ? ([32, 8, 10, '.'] as const) : ([128, 16, 16, ':'] as const);
  const whole = bits.slice(2).padEnd(size, '0');
  const groups = Array.from({ length: size / group }, (_, i) =>
    Number.parseInt(whole.slice(i * group, (i + 1) * group), 2).toString(radix),
  );
  const address = groups.join(join);
  return `${size === 32 ? address : new SocketAddress({ address, family: 'ipv6' }).address}/${bits.length - 2}`;
}

/** For stores that keep ranges as text. */
export function allowsAddress(allowed: readonly string[], address: string): boolean {
  const bits = addressBits(address);
  return allowed.some((text) => bits.startsWith(rangeBits(text) ?? 'none'));
}
