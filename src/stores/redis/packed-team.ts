// Encodes a whole team as Redis stores it; the formats are those of row-formats.ts and lua/team.lua.
import type { KeyContents, TeamContents } from '../../ports/store-contents.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { packKeyCounts, packKeyLimits } from './key-layout.ts';
import { ROWS } from './row-formats.ts';
import { activeWord, BOOKS, byteOf, KEY, packPlan } from './team-layout.ts';

const { CLOSED, CLOSED_MONEY, CREDIT } = ROWS;
const SEVEN_BITS = 128;

export function packBooks({ team, period, usedCharacters }: TeamContents): Buffer {
  return BOOKS.pack({ ...period, usedCharacters, balanceMicro: team.balanceMicro });
}

/** The field `credit` with its name. */
export function creditField({ period: { number, credit } }: TeamContents): (string | Buffer)[] {
  return ['credit', CREDIT.pack({ number, ...credit })];
}

type Guarded = Pick<KeyContents, 'status' | 'limits'>;

function isGuarded({ status, limits }: Guarded): boolean {
  return status === 'disabled' || hasLimits(limits);
}

export function statusByte(key: Guarded): number {
  return byteOf(key.status === 'revoked' ? 'revoked' : activeWord(isGuarded(key), key.limits));
}

/** Its limits as they are stored; empty for none. */
export function guardOf(key: Guarded): Buffer {
  return isGuarded(key) ? packKeyLimits({ disabled: key.status === 'disabled', limits: key.limits }) : Buffer.of();
}

/** All counts of the key are already among its days. */
export function packKey(key: KeyContents, periodNumber: number): Buffer {
  const { lastUsedAtMs = 0, characters, requests } = key;
  return KEY.pack({ word: statusByte(key), lastUsedAtMs, number: requests > 0 ? periodNumber : 0, characters, requests, day: 0 });
}

/** The additional fields in the team's record for a key that has limits or is disabled. */
export function guardFields(key: KeyContents, heldIn: number): (string | Buffer)[] {
  const { keyId, heldCharacters = 0, window } = key;
  if (!isGuarded(key)) return [];
  const counts = heldCharacters > 0 || window.length > 0 ? [`w:${keyId}`, packKeyCounts({ heldIn, heldCharacters, window })] : [];
  return [`l:${keyId}`, guardOf(key), ...counts];
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
  // The one-based offset of the last day.
  const lastAt = 1 + lists.slice(0, -1).reduce((sum, { length }) => sum + length, 0);
  const head = ROWS.DAYS.pack({ number: requests > 0 ? periodNumber : 0, characters, requests, before: first, last: before, lastAt });
  return Buffer.concat([head, Buffer.from(lists.flat())]);
}

function inSevens(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= SEVEN_BITS; rest = Math.floor(rest / SEVEN_BITS)) bytes.push(SEVEN_BITS + (rest % SEVEN_BITS));
  return [...bytes, rest];
}

/** A period that can no longer change. */
export function packClosed(period: Omit<PeriodUse, 'number' | 'closed'>): Buffer {
  const { plan, limits, credit } = period;
  const money = CLOSED_MONEY.pack({ ...period, ...credit });
  const texts = [packPlan(limits), Buffer.from(plan), Buffer.from(limits.currency), Buffer.from(limits.period), money];
  return Buffer.concat([CLOSED.pack(period), ...texts.flatMap((text) => [Buffer.from([text.length]), text])]);
}
