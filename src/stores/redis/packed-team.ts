// Encodes a whole team as Redis stores it; the formats are those of lua/layout.lua, lua/days.lua and lua/tend.lua.
import type { KeyContents, TeamContents } from '../../ports/store-contents.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { packKeyCounts, packKeyLimits } from './key-layout.ts';
import { byteOf, packPlan, writeWide } from './team-layout.ts';

const DOUBLE = 8;
const [KEY_BYTES, DAYS_BYTES] = [36, 26];
const SEVEN_BITS = 128;

export function packBooks({ team, period, usedCharacters }: TeamContents): Buffer {
  const packed = Buffer.alloc(5 * DOUBLE);
  for (const [i, number] of [period.number, period.startMs, period.endMs, usedCharacters, team.balanceMicro].entries()) {
    packed.writeDoubleBE(number, DOUBLE * i);
  }
  return packed;
}

/** All counts of the key are already among its days. */
export function packKey({ status, limits, lastUsedAtMs, characters, requests }: KeyContents, periodNumber: number): Buffer {
  const packed = Buffer.alloc(KEY_BYTES);
  const isGuarded = status === 'disabled' || hasLimits(limits);
  packed.writeUInt8(byteOf(status === 'revoked' ? 'revoked' : isGuarded ? 'guarded' : 'active'));
  for (const [i, number] of [lastUsedAtMs ?? 0, requests > 0 ? periodNumber : 0, characters, requests].entries()) {
    packed.writeDoubleBE(number, 1 + DOUBLE * i);
  }
  return packed;
}

/** The additional fields in the team's record for a key that has limits or is disabled. */
export function guardFields(key: KeyContents, heldIn: number): (string | Buffer)[] {
  const { keyId, status, limits, heldCharacters = 0, window } = key;
  const disabled = status === 'disabled';
  if (!disabled && !hasLimits(limits)) return [];
  const counts = heldCharacters > 0 || window.length > 0 ? [`w:${keyId}`, packKeyCounts({ heldIn, heldCharacters, window })] : [];
  return [`l:${keyId}`, packKeyLimits({ disabled, limits }), ...counts];
}

/** `days` are the key's days in order; at least one. */
export function packDays({ characters, requests }: KeyContents, periodNumber: number, days: TeamContents['days']): Buffer {
  const lists: number[][] = [];
  let before = days[0]!.day - 1;
  const first = before;
  for (const one of days) {
    lists.push([...inSevens(one.day - before), ...inSevens(one.characters), ...inSevens(one.requests)]);
    before = one.day;
  }
  const head = Buffer.alloc(DAYS_BYTES);
  head.writeUInt32BE(requests > 0 ? periodNumber : 0, 0);
  writeWide(head, characters, 4);
  head.writeUIntBE(requests, 11, 6);
  head.writeUIntBE(first, 17, 3);
  head.writeUIntBE(before, 20, 3);
  // The one-based offset of the last day.
  head.writeUIntBE(1 + lists.slice(0, -1).reduce((sum, { length }) => sum + length, 0), 23, 3);
  return Buffer.concat([head, Buffer.from(lists.flat())]);
}

function inSevens(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS)) bytes.push(SEVEN_BITS + (rest % SEVEN_BITS));
  return [...bytes, rest];
}

/** A period that can no longer change. */
type ClosedPeriod = Pick<PeriodUse, 'startMs' | 'endMs' | 'characters' | 'plan' | 'limits'>;

export function packClosed({ startMs, endMs, characters, plan, limits }: ClosedPeriod): Buffer {
  const head = Buffer.alloc(19);
  head.writeUIntBE(startMs, 0, 6);
  head.writeUIntBE(endMs, 6, 6);
  writeWide(head, characters, 12);
  const texts = [packPlan(limits), Buffer.from(plan), Buffer.from(limits.currency), Buffer.from(limits.period)];
  return Buffer.concat([head, ...texts.flatMap((text) => [Buffer.from([text.length]), text])]);
}
