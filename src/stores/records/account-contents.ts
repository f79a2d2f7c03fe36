// An account of a plugin's store as the contents that checks and copies go through, and the other way round.
import { movedCredit } from '../../domain/period-credit.ts';
import { RATE_WINDOW_MS } from '../../domain/reservation.ts';
import type { KeyContents, LooseUsage, PeriodContents, TeamContents } from '../../ports/store-contents.ts';
import type { WholeAccount } from '../../ports/whole-accounts.ts';
import { recordContents, recordsToWrite } from './team-records.ts';
import { toldRefusalsOf } from './told-record.ts';
import type { ToldContents } from './told-record.ts';

/** What contradicts itself is passed to `found`. */
type Found = (what: string, detail: string) => void;

/** `undefined` if only the team's usage is kept. */
export function contentsOf(account: WholeAccount, told: ToldContents, found: Found): TeamContents | undefined {
  const { team, period, standing, keys, requests } = account;
  if (period === undefined) return undefined;
  const { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, heldMicro } = standing;
  if (standing.balanceMicro !== team.balanceMicro) found('balance', `its balance is ${standing.balanceMicro} and ${team.balanceMicro}`);
  if (standing.openReservations !== requests.length)
    found('reservation', `${standing.openReservations} of its reservations are open by its counts, and there are ${requests.length}`);
  // What is not told is not closed: whoever closes it in a copy tells it.
  const periods = usedPeriods(account).map((one) => ({ ...one, closed: one.closed && one.number <= told.toldPeriod }));
  const isRunning = (number: number): boolean => number === period.number || periods.some((one) => !one.closed && one.number === number);
  const records = (table: string) => new Map(account.records.filter((one) => one.table === table).map(({ id, value }) => [id, value]));
  return {
    team,
    period,
    usedCharacters,
    heldCharacters,
    allowanceUsed,
    allowanceHeld,
    heldMicro,
    window: lastSecond(account.window),
    windowCounts: account.windowCounts.toSorted((one, other) => (one.subject < other.subject ? -1 : 1)),
    keys: keys.map((key) => ({ ...key, window: lastSecond(key.window) })),
    days: daysByKey(account),
    periods,
    dayDone: told.dayDone,
    toldPercents: told.toldPercents.filter(({ number }) => isRunning(number)),
    toldRefusals: toldRefusalsOf(told.toldLimits, [...account.periods, period]).filter(
      ({ code, number }) => code === 'credit_exhausted' || number === period.number,
    ),
    requests: requests.toSorted((one, other) => (one.requestId < other.requestId ? -1 : 1)),
    // Blobs are not listed.
    ...recordContents(records, [], found),
  };
}

/** Without what has no use and no open reservation. */
function usedPeriods({ periods, requests }: WholeAccount): PeriodContents[] {
  const isOpen = (number: number) => requests.some(({ periodNumber }) => periodNumber === number);
  const used = periods.filter(({ number, characters, credit }) => characters > 0 || movedCredit(credit) || isOpen(number));
  return used.toSorted((one, other) => one.number - other.number);
}

function daysByKey({ keys, days }: WholeAccount): TeamContents['days'] {
  const order = new Map(keys.map(({ keyId }, i) => [keyId, i]));
  return days.toSorted((one, other) => order.get(one.keyId)! - order.get(other.keyId)! || one.day - other.day);
}

function lastSecond(window: TeamContents['window']): TeamContents['window'] {
  const newestMs = window.at(-1)?.atMs ?? 0;
  return window.filter(({ atMs }) => newestMs - atMs < RATE_WINDOW_MS);
}

/** Of a deleted team. */
export function keptUsageOf(account: WholeAccount): LooseUsage {
  const { teamId, createdAtMs, plan, limits } = account.team;
  const keys = account.keys.map(({ keyId, mode, createdAtMs: madeAtMs }) => ({ keyId, mode, createdAtMs: madeAtMs }));
  const periods = usedPeriods(account).map(({ closed: _closed, keys: _keys, ...period }) => period);
  return { kind: 'usage', teamId, createdAtMs, plan, limits, keys, days: daysByKey(account), periods };
}

export function accountOf(contents: TeamContents): WholeAccount {
  const { team, period, window, windowCounts, keys, days, periods, requests } = contents;
  const account = { team, period, window, windowCounts, keys, days, periods, requests };
  const { usedCharacters, heldCharacters, allowanceUsed, allowanceHeld, heldMicro } = contents;
  const openReservations = requests.length;
  const held = { heldCharacters, allowanceUsed, allowanceHeld, heldMicro, openReservations };
  const standing = { usedCharacters, balanceMicro: team.balanceMicro, ...held };
  return { ...account, standing, changes: [], records: recordsToWrite(contents) };
}

const NOTHING_HELD = { heldCharacters: 0, allowanceUsed: 0, allowanceHeld: 0, heldMicro: 0, openReservations: 0 };
const ONLY_USAGE = {
  period: undefined,
  standing: { usedCharacters: 0, balanceMicro: 0, ...NOTHING_HELD },
  window: [],
  windowCounts: [],
  requests: [],
  changes: [],
  records: [],
};

export function accountOfKept({ teamId, createdAtMs, plan, limits, keys, days, periods }: LooseUsage): WholeAccount {
  const erased = { display: '', label: '', status: 'revoked', limits: {}, lastUsedAtMs: undefined, digest: undefined } as const;
  const unused = { characters: 0, requests: 0, heldCharacters: undefined, window: [] };
  return {
    ...ONLY_USAGE,
    team: { teamId, name: '', plan, limits, balanceMicro: 0, createdAtMs },
    keys: keys.map((key): KeyContents => ({ ...key, ...erased, ...unused })),
    days,
    periods: periods.map((period) => ({ ...period, closed: true, keys: undefined })),
  };
}
