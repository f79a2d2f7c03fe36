// Decodes the periods that lua/tend.lua returns: the current one, earlier ones with open reservations, and closed ones.
import { DAY_MS } from '../../domain/period.ts';
import { movedCredit } from '../../domain/period-credit.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { fieldsOf } from './team-codec.ts';
import { recordFormat } from './record-format.ts';
import { BOOKS, readKeyState, readPlan } from './team-layout.ts';

type Fields = ReadonlyMap<string, Buffer>;

/** Newest first; periods without usage are omitted, except for the current one. `values` are the function's. */
export function readPeriods(values: readonly unknown[], keptDays: number): PeriodUse[] {
  const [now, record, left, closed] = values as readonly [Buffer, unknown, readonly (readonly Buffer[])[], unknown];
  const team = fieldsOf(record);
  const open = left.map((one) => readLeft(one, team)).filter(isKept);
  const others = [...open, ...closedPeriods(now, closed, keptDays)];
  return [readCurrent(team), ...others.toSorted((one, other) => other.number - one.number)];
}

/** One that has neither characters nor changed the credit is not kept once it is closed, so that it does not come and go. */
function isKept({ characters, credit }: PeriodUse): boolean {
  return characters > 0 || (credit !== undefined && movedCredit(credit));
}

/** For a deleted team whose usage was kept: only closed periods. */
export function readKeptPeriods(values: readonly unknown[], keptDays: number): PeriodUse[] {
  const [now, , closed] = values as readonly [Buffer, unknown, unknown];
  return closedPeriods(now, closed, keptDays).toSorted((one, other) => other.number - one.number);
}

function closedPeriods(now: Buffer, closed: unknown, keptDays: number): PeriodUse[] {
  const keptFromMs = Number(String(now)) - keptDays * DAY_MS;
  const periods = [...fieldsOf(closed)].map(([number, record]) => readClosed(Number(number), record));
  return periods.filter(({ endMs }) => endMs >= keptFromMs);
}

function readCurrent(team: Fields): PeriodUse {
  const { number, startMs, endMs, usedCharacters, balanceMicro } = BOOKS.read(team.get('b')!);
  return {
    number,
    startMs,
    endMs,
    closed: false,
    plan: String(team.get('plan')),
    limits: limitsOf(team.get('p')!, team.get('currency')!, team.get('period')!),
    characters: usedCharacters,
    requests: requestsOfKeys(team, number),
    credit: currentCredit(team.get('credit'), number, balanceMicro),
  };
}

/** A period that may still change. */
function readLeft([number, starts, ends, characters, p, plan, currency, period, ...money]: readonly Buffer[], team: Fields): PeriodUse {
  const of = Number(String(number));
  const [requests, openingMicro, addedMicro, deductedMicro, balanceMicro] = money.map(numberOf);
  return {
    number: of,
    startMs: Number(String(starts)),
    endMs: Number(String(ends)),
    closed: false,
    plan: String(plan),
    limits: limitsOf(p!, currency!, period!),
    characters: Number(String(characters)),
    requests: requests === undefined ? undefined : requests + requestsOfKeys(team, of),
    credit: creditOf({ openingMicro, addedMicro, deductedMicro, balanceMicro }),
  };
}

/** What keys still count of a period: the others are in the period's hash (lua/resolve.lua). */
export function requestsOfKeys(team: Fields, number: number): number {
  let sum = 0;
  for (const [name, packed] of team) {
    if (!name.startsWith('k')) continue;
    const state = readKeyState(packed);
    if (state.number === number) sum += state.requests;
  }
  return sum;
}

/** The field `credit` of a team (lua/team.lua). */
export const CREDIT = recordFormat({ number: 'd', openingMicro: 'd', addedMicro: 'd', deductedMicro: 'd' });

/** `undefined` if the period was begun by a version that did not record it. */
export function currentCredit(packed: Buffer | undefined, number: number, balanceMicro: number): PeriodCredit | undefined {
  if (packed === undefined) return undefined;
  const { number: of, ...credit } = CREDIT.read(packed);
  return of === number ? { ...credit, balanceMicro } : undefined;
}

export function creditOf(kept: { readonly [Name in keyof PeriodCredit]: number | undefined }): PeriodCredit | undefined {
  const { openingMicro, addedMicro, deductedMicro, balanceMicro } = kept;
  if (openingMicro === undefined || addedMicro === undefined || deductedMicro === undefined || balanceMicro === undefined) return undefined;
  return { openingMicro, addedMicro, deductedMicro, balanceMicro };
}

/** `undefined` for what is not recorded: an absent field, or an empty text. */
export function numberOf(text: Buffer | undefined): number | undefined {
  return text === undefined || text.length === 0 ? undefined : Number(String(text));
}

/** A closed period, before its texts (lua/team.lua: `CLOSED`). */
export const CLOSED = recordFormat({ startMs: 'I6', endMs: 'I6', characters: 'I7' });
/** The last text: as much of both as was recorded. */
export const CLOSED_REQUESTS = recordFormat({ requests: 'd' });
export const CLOSED_CREDIT = recordFormat({ openingMicro: 'd', addedMicro: 'd', deductedMicro: 'd', balanceMicro: 'd' });

export function readClosed(number: number, record: Buffer): PeriodUse {
  let at = CLOSED.bytes;
  const text = (): Buffer => {
    if (at >= record.length) return Buffer.alloc(0);
    const length = record[at]!;
    at += 1 + length;
    return record.subarray(at - length, at);
  };
  const [p, plan, currency, period, money] = [text(), text(), text(), text(), text()];
  return {
    number,
    ...CLOSED.read(record),
    closed: true,
    plan: String(plan),
    limits: limitsOf(p, currency, period),
    requests: money.length === 0 ? undefined : CLOSED_REQUESTS.read(money).requests,
    credit: money.length <= CLOSED_REQUESTS.bytes ? undefined : CLOSED_CREDIT.read(money.subarray(CLOSED_REQUESTS.bytes)),
  };
}

function limitsOf(p: Buffer, currency: Buffer, period: Buffer): TeamLimits {
  return { ...readPlan(p), currency: String(currency), period: String(period) };
}
