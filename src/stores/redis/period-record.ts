// Decodes the periods that lua/tend.lua returns: the current one, earlier ones with open reservations, and closed ones.
import { DAY_MS } from '../../domain/period.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { fieldsOf } from './team-codec.ts';
import { recordFormat } from './record-format.ts';
import { readPlan } from './team-layout.ts';

/** Newest first; periods without usage are omitted, except for the current one. `values` are the function's. */
export function readPeriods(values: readonly unknown[], keptDays: number): PeriodUse[] {
  const [now, running, left, closed] = values as readonly [Buffer, readonly Buffer[], readonly (readonly Buffer[])[], unknown];
  const others = [...left.map(readLeft).filter(({ characters }) => characters > 0), ...closedPeriods(now, closed, keptDays)];
  return [readLeft(running), ...others.toSorted((one, other) => other.number - one.number)];
}

/** For a deleted team whose usage was kept: only closed periods. */
export function readKeptPeriods(values: readonly unknown[], keptDays: number): PeriodUse[] {
  const [now, closed] = values as readonly [Buffer, unknown];
  return closedPeriods(now, closed, keptDays).toSorted((one, other) => other.number - one.number);
}

function closedPeriods(now: Buffer, closed: unknown, keptDays: number): PeriodUse[] {
  const keptFromMs = Number(String(now)) - keptDays * DAY_MS;
  const periods = [...fieldsOf(closed)].map(([number, record]) => readClosed(Number(number), record));
  return periods.filter(({ endMs }) => endMs >= keptFromMs);
}

/** A period that may still change. */
function readLeft([number, starts, ends, characters, p, plan, currency, period]: readonly Buffer[]): PeriodUse {
  return {
    number: Number(String(number)),
    startMs: Number(String(starts)),
    endMs: Number(String(ends)),
    closed: false,
    plan: String(plan),
    limits: limitsOf(p!, currency!, period!),
    characters: Number(String(characters)),
  };
}

/** A closed period, before its texts (lua/team.lua: `CLOSED`). */
export const CLOSED = recordFormat({ startMs: 'I6', endMs: 'I6', characters: 'I7' });

export function readClosed(number: number, record: Buffer): PeriodUse {
  let at = CLOSED.bytes;
  const text = (): Buffer => {
    const length = record[at]!;
    at += 1 + length;
    return record.subarray(at - length, at);
  };
  const [p, plan, currency, period] = [text(), text(), text(), text()];
  return { number, ...CLOSED.read(record), closed: true, plan: String(plan), limits: limitsOf(p, currency, period) };
}

function limitsOf(p: Buffer, currency: Buffer, period: Buffer): TeamLimits {
  return { ...readPlan(p), currency: String(currency), period: String(period) };
}
