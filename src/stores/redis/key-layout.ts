// The encoding of a key's limits and of the counters that enforce them, as lua/guards.lua and lua/keys.lua read and write them.
import { parseRange, writtenRange } from '../../domain/key-limits.ts';
import type { KeyLimits } from '../../domain/key-limits.ts';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import type { TeamContents } from '../../ports/store-contents.ts';
import { readWide, writeWide } from './team-layout.ts';

const DOUBLE = 8;
const LIMITS_BYTES = 1 + 3 * DOUBLE;
const COUNTS_BYTES = 22;
const ENTRY_BYTES = 5;
/** Times in a window are stored modulo this. */
const LOW = 65_536;
const NONE = Buffer.alloc(LIMITS_BYTES);

/** Field `l:<key>` of a team. */
export interface GuardedLimits {
  readonly disabled: boolean;
  readonly limits: KeyLimits;
}

export function packKeyLimits({ disabled, limits }: GuardedLimits): Buffer {
  const packed = Buffer.alloc(LIMITS_BYTES);
  packed.writeUInt8(disabled ? 1 : 0);
  for (const [i, number] of [limits.expiresAtMs, limits.requestsPerSecond, limits.characters].entries()) {
    packed.writeDoubleBE(number ?? 0, 1 + DOUBLE * i);
  }
  return Buffer.concat([packed, packRanges(limits.allowedAddresses ?? [])]);
}

/** For each range its prefix length and its number of bytes, then the bytes. */
export function packRanges(ranges: readonly string[]): Buffer {
  return Buffer.concat(
    ranges.flatMap((text) => {
      const range = parseRange(text);
      if (range === undefined) throw new RangeError(`"${text}" is not an address range`);
      return [Buffer.from([range.bits, range.bytes.length]), Buffer.from(range.bytes)];
    }),
  );
}

export function readKeyLimits(bytes: Buffer = NONE): GuardedLimits {
  const packed = bytes.length === 0 ? NONE : bytes;
  const [expiresAtMs, requestsPerSecond, characters] = [0, 1, 2].map((i) => packed.readDoubleBE(1 + DOUBLE * i)) as [
    number,
    number,
    number,
  ];
  const ranges = readRanges(packed.subarray(LIMITS_BYTES));
  const limits: KeyLimits = {
    ...(expiresAtMs > 0 ? { expiresAtMs } : {}),
    ...(requestsPerSecond > 0 ? { requestsPerSecond } : {}),
    ...(characters > 0 ? { characters } : {}),
    ...(ranges.length > 0 ? { allowedAddresses: ranges } : {}),
  };
  return { disabled: packed[0] === 1, limits };
}

function readRanges(packed: Buffer): string[] {
  const ranges: string[] = [];
  for (let at = 0; at < packed.length;) {
    const [bits, length] = [packed[at]!, packed[at + 1]!];
    ranges.push(writtenRange({ bits, bytes: packed.subarray(at + 2, at + 2 + length) }));
    at += 2 + length;
  }
  return ranges;
}

/** Field `w:<key>` of a team. */
export interface KeyCounts {
  /** The number of the period. */
  readonly heldIn: number;
  readonly heldCharacters: number;
  readonly window: TeamContents['window'];
}

export function packKeyCounts({ heldIn, heldCharacters, window }: KeyCounts): Buffer {
  const head = Buffer.alloc(COUNTS_BYTES);
  const newestMs = window.at(-1)?.atMs ?? 0;
  const low = newestMs % LOW;
  head.writeUInt32BE(heldIn, 0);
  writeWide(head, heldCharacters, 4);
  head.writeUIntBE(newestMs, 11, 6);
  head.writeUInt16BE(low, 17);
  head.writeUIntBE(
    window.reduce((sum, { count }) => sum + count, 0),
    19,
    3,
  );
  const entries = window.map(({ atMs, count }) => {
    const entry = Buffer.alloc(ENTRY_BYTES);
    entry.writeUInt16BE((low - (newestMs - atMs) + LOW) % LOW, 0);
    entry.writeUIntBE(count, 2, 3);
    return entry;
  });
  return Buffer.concat([head, ...entries]);
}

/** Without the slots that had expired when the newest was taken. */
export function readKeyCounts(packed: Buffer | undefined): KeyCounts {
  if (packed === undefined) return { heldIn: 0, heldCharacters: 0, window: [] };
  const [newestMs, low] = [packed.readUIntBE(11, 6), packed.readUInt16BE(17)];
  const window: { atMs: number; count: number }[] = [];
  for (let at = COUNTS_BYTES; at < packed.length; at += ENTRY_BYTES) {
    const ageMs = (low - packed.readUInt16BE(at) + LOW) % LOW;
    if (ageMs < RATE_WINDOW_MS) window.push({ atMs: newestMs - ageMs, count: packed.readUIntBE(at + 2, 3) });
  }
  return { heldIn: packed.readUInt32BE(0), heldCharacters: readWide(packed, 4), window };
}
