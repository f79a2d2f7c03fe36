// The encoding of a key's limits and of the counters that enforce them, as lua/guards.lua and lua/keys.lua read and write them.
import { parseRange, writtenRange } from '../../domain/key-limits.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import type { TeamContents } from '../../ports/store-contents.ts';
import { NO_WINDOWS } from '../../domain/window-limits.ts';
import { ROWS } from './row-formats.ts';
import { packWindowLimits, readWindowLimits } from './window-layout.ts';

const { KEY_LIMITS: LIMITS, KEY_COUNTS: COUNTS, KEY_SLOT: ENTRY } = ROWS;
/** Times in a window are stored modulo this. */
const LOW = 65_536;
/** More than a prefix length can be. */
const SCOPE = 255;
const NONE = Buffer.alloc(LIMITS.bytes);
const [DISABLED, HAS_WINDOWS] = [1, 2];

/** Field `l:<key>` of a team. */
export interface GuardedLimits {
  readonly disabled: boolean;
  readonly limits: KeyLimits;
}

export function packKeyLimits({ disabled, limits }: GuardedLimits): Buffer {
  const { expiresAtMs = 0, requestsPerSecond = 0, characters = 0, allowedAddresses = [], scopes = [], windows } = limits;
  const windowed = packWindowLimits(windows ?? NO_WINDOWS);
  const flags = (disabled ? DISABLED : 0) + (windowed.length > 0 ? HAS_WINDOWS : 0);
  const numbers = LIMITS.pack({ disabled: flags, expiresAtMs, requestsPerSecond, characters });
  return Buffer.concat([numbers, packScopes(scopes), packRanges(allowedAddresses), windowed]);
}

/** In front of the ranges: for each scope a byte that no range begins with and its number of bytes, then its text. */
function packScopes(scopes: readonly string[]): Buffer {
  return Buffer.concat(scopes.flatMap((scope) => [Buffer.from([SCOPE, scope.length]), Buffer.from(scope)]));
}

/** For each range its prefix length and its number of bytes, then the bytes. */
function packRanges(ranges: readonly string[]): Buffer {
  return Buffer.concat(
    ranges.flatMap((text) => {
      const range = parseRange(text);
      if (range === undefined) throw new RangeError(`"${text}" is not an address range`);
      return [Buffer.from([range.bits, range.bytes.length]), Buffer.from(range.bytes)];
    }),
  );
}

export function readKeyLimits(bytes: Buffer = NONE): GuardedLimits {
  const whole = bytes.length === 0 ? NONE : bytes;
  const [windows, packed] = whole[0]! >= HAS_WINDOWS ? readWindowLimits(whole) : [undefined, whole];
  const { disabled, expiresAtMs, requestsPerSecond, characters } = LIMITS.read(packed);
  const { scopes, ranges } = readLists(packed.subarray(LIMITS.bytes));
  const limits: KeyLimits = {
    ...(expiresAtMs > 0 ? { expiresAtMs } : {}),
    ...(requestsPerSecond > 0 ? { requestsPerSecond } : {}),
    ...(characters > 0 ? { characters } : {}),
    ...(ranges.length > 0 ? { allowedAddresses: ranges } : {}),
    ...(scopes.length > 0 ? { scopes } : {}),
    ...(windows === undefined ? {} : { windows }),
  };
  return { disabled: disabled % HAS_WINDOWS === DISABLED, limits };
}

function readLists(packed: Buffer): { readonly scopes: readonly string[]; readonly ranges: readonly string[] } {
  const scopes: string[] = [];
  const ranges: string[] = [];
  for (let at = 0; at < packed.length;) {
    const [bits, length] = [packed[at]!, packed[at + 1]!];
    const bytes = packed.subarray(at + 2, at + 2 + length);
    if (bits === SCOPE) scopes.push(bytes.toString('latin1'));
    else ranges.push(writtenRange({ bits, bytes }));
    at += 2 + length;
  }
  return { scopes: scopes, ranges: ranges };
}

/** Field `w:<key>` of a team. */
interface KeyCounts {
  /** The number of the period. */
  readonly heldIn: number;
  readonly heldCharacters: number;
  readonly window: TeamContents['window'];
}

export function packKeyCounts({ heldIn, heldCharacters, window }: KeyCounts): Buffer {
  const newestMs = window.at(-1)?.atMs ?? 0;
  const low = newestMs % LOW;
  const total = window.reduce((sum, { count }) => sum + count, 0);
  const entries = window.map(({ atMs, count }) => ENTRY.pack({ low: (low - (newestMs - atMs) + LOW) % LOW, count }));
  return Buffer.concat([COUNTS.pack({ heldIn, heldCharacters, newestMs, low, total }), ...entries]);
}

/** Without the slots that had expired when the newest was taken. */
export function readKeyCounts(packed: Buffer | undefined): KeyCounts {
  if (packed === undefined) return { heldIn: 0, heldCharacters: 0, window: [] };
  const { heldIn, heldCharacters, newestMs, low } = COUNTS.read(packed);
  const window: { atMs: number; count: number }[] = [];
  for (let at = COUNTS.bytes; at < packed.length; at += ENTRY.bytes) {
    const entry = ENTRY.read(packed.subarray(at));
    const ageMs = (low - entry.low + LOW) % LOW;
    if (ageMs < RATE_WINDOW_MS) window.push({ atMs: newestMs - ageMs, count: entry.count });
  }
  return { heldIn, heldCharacters, window };
}
