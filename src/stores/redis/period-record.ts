// Decodes the periods that lua/tend.lua returns: the current one, earlier ones with open reservations, and closed ones.
import { DAY_MS } from '../../domain/period.ts';
import { movedCredit } from '../../domain/period-credit.ts';
import type { PeriodCredit } from '../../domain/period-credit.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { fieldsOf, isTestKey } from './team-codec.ts';
import { ROWS } from './row-formats.ts';
import { BOOKS, readAllowance, readKeyState, readPlan } from './team-layout.ts';

const { CLOSED, CLOSED_MONEY, CREDIT } = ROWS;

type Fields = ReadonlyMap<string, Buffer>;
type MoneyNumbers = [number, number, number, number, number, number, number];
type IsTest = (keyId: string) => boolean;

/** Newest first; periods that neither used characters nor moved credit are omitted, except for the current one. `values` are the function's. */
export function readPeriods(values: readonly unknown[], keptDays: number): PeriodUse[] {
  const [now, record, left, closed, keys] = values as readonly [Buffer, unknown, readonly (readonly Buffer[])[], unknown, unknown];
  const team = fieldsOf(record);
  const records = fieldsOf(keys);
  const isTest = (keyId: string): boolean => isTestKey(records.get(keyId));
  const open = left.map((one) => readLeft(one, team, isTest)).filter(isKept);
  const others = [...open, ...closedPeriods(now, closed, keptDays)];
  return [readCurrent(team, isTest), ...others.toSorted((one, other) => other.number - one.number)];
}

/** A period without use that has not changed the credit either may be left out. */
function isKept({ characters, credit }: PeriodUse): boolean {
  return characters > 0 || movedCredit(credit);
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

function readCurrent(team: Fields, isTest: IsTest): PeriodUse {
  const { number, startMs, endMs, usedCharacters, balanceMicro } = BOOKS.read(team.get('b')!);
  return {
    number,
    startMs,
    endMs,
    closed: false,
    plan: String(team.get('plan')),
    limits: limitsOf(team.get('p')!, team.get('currency')!, team.get('period')!),
    characters: usedCharacters,
    allowanceUsed: readAllowance(team.get('allowance'), number).allowanceUsed,
    ...countsOfKeys(team, number, isTest),
    credit: currentCredit(team.get('credit')!, balanceMicro),
  };
}

/** A period that may still change. */
function readLeft(values: readonly Buffer[], team: Fields, isTest: IsTest): PeriodUse {
  const [number, starts, ends, characters, p, plan, currency, period, ...money] = values;
  const of = Number(String(number));
  const [requests, openingMicro, addedMicro, deductedMicro, balanceMicro, allowanceUsed, tests] = money.map((text) =>
    Number(String(text)),
  ) as MoneyNumbers;
  const ofKeys = countsOfKeys(team, of, isTest);
  return {
    number: of,
    startMs: Number(String(starts)),
    endMs: Number(String(ends)),
    closed: false,
    plan: String(plan),
    limits: limitsOf(p!, currency!, period!),
    characters: Number(String(characters)),
    allowanceUsed,
    testCharacters: tests + ofKeys.testCharacters,
    requests: requests + ofKeys.requests,
    credit: { openingMicro, addedMicro, deductedMicro, balanceMicro },
  };
}

/** What keys still count of a period: the others are in the period's hash (lua/resolve.lua). */
export function countsOfKeys(team: Fields, number: number, isTest: IsTest): { requests: number; testCharacters: number } {
  const sum = { requests: 0, testCharacters: 0 };
  for (const [name, packed] of team) {
    if (!name.startsWith('k')) continue;
    const state = readKeyState(packed);
    if (state.number !== number) continue;
    sum.requests += state.requests;
    if (state.characters > 0 && isTest(name.slice(1))) sum.testCharacters += state.characters;
  }
  return sum;
}

/** From the field `credit` of a team. */
export function currentCredit(packed: Buffer, balanceMicro: number): PeriodCredit {
  const { number: _number, ...credit } = CREDIT.read(packed);
  return { ...credit, balanceMicro };
}

export function readClosed(number: number, record: Buffer): PeriodUse {
  let at = CLOSED.bytes;
  const text = (): Buffer => {
    const length = record[at]!;
    at += 1 + length;
    return record.subarray(at - length, at);
  };
  const [p, plan, currency, period, money] = [text(), text(), text(), text(), text()];
  const { requests, allowanceUsed, testCharacters, ...credit } = CLOSED_MONEY.read(money);
  return {
    number,
    ...CLOSED.read(record),
    closed: true,
    plan: String(plan),
    limits: limitsOf(p, currency, period),
    requests,
    credit,
    allowanceUsed,
    testCharacters,
  };
}

function limitsOf(p: Buffer, currency: Buffer, period: Buffer): TeamLimits {
  return { ...readPlan(p), currency: String(currency), period: String(period) };
}
