// The auditor of real processes: what callers saw, and their gateways logged, against what the store reports in the end.
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { WindowUse } from '../../../src/domain/window-limits.ts';
import type { KeyUsage, Standing } from '../../../src/ports/team-registry.ts';
import type { KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';
import { windowAt } from '../reference/calendar.ts';
import { overdrawn, priceOf, unsound } from './totals.ts';

/** How a request ended for its caller. `unknown`: the connection broke, or the caller aborted it. */
export type SeenResult =
  | { readonly kind: 'ok'; readonly requestId: string; readonly billed: number }
  | { readonly kind: 'fail'; readonly requestId: string; readonly status: number; readonly code: string }
  | { readonly kind: 'unknown' };

/** One request as its caller saw it. Times are of this machine's clock, which the store uses too. */
export interface Seen {
  readonly teamId: string;
  readonly keyId: string;
  /** Code points sent, or what a forward route charges; 0 for a route that charges nothing. */
  readonly characters: number;
  /** The process that handled it. */
  readonly via: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** It was sent after the reply to the revocation of its key. */
  readonly afterRevocation: boolean;
  readonly result: SeenResult;
}

/** A team before and after; a run has one period of it, no test keys, and one plan. */
export interface TeamAccount {
  readonly teamId: string;
  readonly limits: TeamLimits;
  readonly startMicro: number;
  readonly standing: Standing;
  readonly keys: readonly KeyUsage[];
  readonly days: readonly KeyDay[];
  readonly periods: readonly Pick<PeriodUse, 'characters'>[];
  /** What is used of its limits by minute to month; those by month are judged. */
  readonly windows: readonly WindowUse[];
}

/** A moment at which requests in flight may have been delivered uncharged. */
export interface Crash {
  /** The process that died; `store` if it was the store. */
  readonly via: string;
  readonly atMs: number;
  /** A commit is sent before the answer is. This long before the crash it may not have been written yet. */
  readonly underWayMs: number;
}

/** What was handed over in full, by an access log. */
interface Delivery {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly characters: number;
}

export interface Run {
  readonly teams: readonly TeamAccount[];
  readonly seen: readonly Seen[];
  readonly crashes: readonly Crash[];
  /** Absent if a gateway died, and its log with it: then what broke off may have been charged or not. */
  readonly delivered?: readonly Delivery[] | undefined;
}

/** By the guarantee that it breaks; `L0` is about the logs themselves. */
export interface Finding {
  readonly guarantee: 'L0' | 'L1' | 'L2' | 'L3' | 'L5' | 'L6' | 'L7' | 'L8' | 'L9' | 'L11';
  readonly what: string;
}

const SECOND_MS = 1000;

/** Everything that is wrong; empty if every guarantee holds. Call it when nothing is under way, one lease after the last fault. */
export function findings(run: Run): Finding[] {
  const seenOf = Map.groupBy(run.seen, ({ teamId }) => teamId);
  const ofTeams = run.teams.flatMap((team) => {
    const seen = seenOf.get(team.teamId) ?? [];
    return [
      ...accountFindings(team),
      ...chargeFindings(team, seen, run),
      ...rateFindings(team, seen),
      ...useFindings(team, seen),
      ...windowFindings(team, seen),
    ];
  });
  return [...billFindings(run), ...ofTeams];
}

export interface Figures {
  readonly ok: number;
  readonly failed: number;
  readonly unknown: number;
  readonly okCharacters: number;
  readonly chargedCharacters: number;
  /** Handed over in full by the logs, though the caller's connection broke before it had read all of it. */
  readonly unreadCharacters: number;
  /** Delivered and not charged: at least so many, because what broke off may have been charged in their place. */
  readonly uncharged: number;
}

/** Sums over a run, for the report. */
export function figuresOf({ teams, seen, delivered = [] }: Run): Figures {
  const answered = seen.flatMap((one) => (one.result.kind === 'ok' ? [{ ...one, ...one.result }] : []));
  const paidOf = Map.groupBy(
    answered.filter(({ characters }) => characters > 0),
    ({ keyId }) => keyId,
  );
  const keys = teams.flatMap((team) => team.keys);
  const read = new Set(answered.map(({ requestId }) => requestId));
  return {
    ok: answered.length,
    failed: seen.filter(({ result }) => result.kind === 'fail').length,
    unknown: seen.filter(({ result }) => result.kind === 'unknown').length,
    okCharacters: sumOf(answered.map(({ billed }) => billed)),
    chargedCharacters: sumOf(keys.map(({ characters }) => characters)),
    unreadCharacters: sumOf(delivered.filter(({ requestId }) => !read.has(requestId)).map(({ characters }) => characters)),
    uncharged: sumOf(keys.map(({ keyId, requests }) => Math.max(0, (paidOf.get(keyId)?.length ?? 0) - requests))),
  };
}

/** L3, L5 and L9: the account is within its limits and the sum of its keys, as are days and periods, and nothing is held. */
function accountFindings({ teamId, limits, startMicro, standing, keys, days, periods }: TeamAccount): Finding[] {
  const found: Finding[] = [];
  const finding = (guarantee: Finding['guarantee'], what: string) => void found.push({ guarantee, what: `team ${teamId}: ${what}` });
  const fault = unsound(standing) ?? overdrawn(standing, limits, 'live');
  if (fault !== undefined) finding('L3', fault);
  const { usedCharacters, heldCharacters, heldMicro, openReservations, balanceMicro } = standing;
  if (heldCharacters + heldMicro + openReservations !== 0) finding('L5', `holds ${JSON.stringify(standing)}`);
  const charged = sumOf(keys.map(({ characters }) => characters));
  const owed = startMicro - priceOf(charged, limits, 'live');
  if (balanceMicro !== owed) finding('L3', `has ${balanceMicro} millionths left, after its keys' charges it would be ${owed}`);
  if (usedCharacters !== charged) finding('L3', `has used ${usedCharacters} characters, its keys ${charged}`);
  const billed = sumOf(periods.map(({ characters }) => characters));
  if (billed !== charged) finding('L9', `its periods add up to ${billed} characters, its keys to ${charged}`);
  for (const { keyId, characters, requests } of keys) {
    const own = days.filter((day) => day.keyId === keyId);
    const counted = [sumOf(own.map((day) => day.characters)), sumOf(own.map((day) => day.requests))];
    if (counted.join() !== [characters, requests].join())
      finding('L9', `days of ${keyId} have ${counted.join()}, it ${characters},${requests}`);
  }
  return found;
}

/** L1 and L2: each key was charged what was delivered to it, and of what nobody can know at most all. */
function chargeFindings({ teamId, keys }: TeamAccount, seen: readonly Seen[], { crashes, delivered }: Run): Finding[] {
  return keys.flatMap((key): Finding[] => {
    const paid = seen.filter((one) => one.keyId === key.keyId && one.characters > 0);
    const isKnown = (one: Seen) => one.result.kind === 'ok' && !crashes.some((crash) => underWay(one, crash));
    const handed = delivered?.filter(({ keyId }) => keyId === key.keyId);
    const certain = handed ?? paid.filter(isKnown);
    const possible = handed === undefined ? paid.filter((one) => one.result.kind !== 'fail' && !isKnown(one)) : [];
    const more = { requests: key.requests - certain.length, characters: key.characters - sumOf(certain.map((one) => one.characters)) };
    const [least, most] = sumsOf(
      possible.map((one) => one.characters),
      more.requests,
    );
    const isRight = more.requests >= 0 && more.requests <= possible.length && more.characters >= least && more.characters <= most;
    const what = `key ${key.keyId} of team ${teamId} was charged ${key.characters} characters in ${key.requests} requests: ${JSON.stringify(more)} more than was delivered, ${possible.length} are not known`;
    return isRight ? [] : [{ guarantee: more.characters > most ? 'L1' : 'L2', what }];
  });
}

function underWay({ via, startedAtMs, endedAtMs }: Seen, crash: Crash): boolean {
  return (crash.via === 'store' || crash.via === via) && startedAtMs <= crash.atMs && endedAtMs >= crash.atMs - crash.underWayMs;
}

/** The least and the most that so many of these numbers can add up to. */
function sumsOf(numbers: readonly number[], count: number): [least: number, most: number] {
  const sorted = numbers.toSorted((a, b) => a - b);
  const taken = Math.max(0, count);
  return [sumOf(sorted.slice(0, taken)), sumOf(sorted.slice(Math.max(0, sorted.length - taken)))];
}

/** L0 to L2, id by id: answers say what was sent, and logs say what was answered. */
function billFindings({ seen, delivered, teams }: Run): Finding[] {
  const found: Finding[] = [];
  const handed = new Map(delivered?.map((one) => [one.requestId, one]));
  const broken = Map.groupBy(
    seen.filter(({ result }) => result.kind === 'unknown'),
    ({ keyId, characters }) => `${keyId} ${characters}`,
  );
  for (const { characters, result } of seen) {
    if (result.kind === 'unknown') continue;
    const log = handed.get(result.requestId);
    handed.delete(result.requestId);
    if (result.kind === 'ok' && result.billed !== characters)
      found.push({ guarantee: 'L2', what: `${result.requestId} sent ${characters} characters and was billed ${result.billed}` });
    if (result.kind === 'ok' && delivered !== undefined && characters > 0 && log?.characters !== characters)
      found.push({ guarantee: 'L0', what: `${result.requestId} was answered, and is logged with ${log?.characters} characters` });
    if (result.kind === 'fail' && log !== undefined)
      found.push({ guarantee: 'L1', what: `${result.requestId} failed with ${result.code}, and is logged as delivered` });
  }
  const watched = new Set(teams.map(({ teamId }) => teamId));
  for (const { requestId, teamId, keyId, characters } of handed.values()) {
    if (!watched.has(teamId) || broken.get(`${keyId} ${characters}`)?.pop() !== undefined) continue;
    found.push({ guarantee: 'L0', what: `nobody sent ${requestId} with ${characters} characters` });
  }
  return found;
}

/** L11: a window that the whole run was in has counted what was charged, and nothing of what failed or was lost. */
function windowFindings({ teamId, keys, windows }: TeamAccount, [first]: readonly Seen[]): Finding[] {
  const charged = sumOf(keys.map(({ characters }) => characters));
  return windows
    .filter(({ per, endMs }) => per === 'month' && first !== undefined && windowAt('month', first.startedAtMs).endMs === endMs)
    .filter(({ usedCharacters }) => usedCharacters !== charged)
    .map(({ usedCharacters }) => ({
      guarantee: 'L11',
      what: `team ${teamId} has used ${usedCharacters} of its month, its keys ${charged}`,
    }));
}

/** They are refused before they take a slot; what ended in any other way may have taken one. */
const PLACELESS: ReadonlySet<string> = new Set(['rate_limited', 'unauthorized', 'key_revoked']);
const PLACED: ReadonlySet<string> = new Set(['ok', 'engine_unavailable', 'quota_exceeded', 'credit_exhausted']);

/** L6, in both directions: a slot was taken at some moment between question and answer, and is free again after a second. */
function rateFindings({ teamId, limits: { requestsPerSecond: rate } }: TeamAccount, seen: readonly Seen[]): Finding[] {
  const wrong = (what: string): Finding => ({ guarantee: 'L6', what: `team ${teamId}, with ${rate} a second, ${what}` });
  const placed = seen.filter((one) => PLACED.has(codeOf(one))).toSorted((a, b) => a.startedAtMs - b.startedAtMs);
  const found: Finding[] = [];
  for (const [first, { startedAtMs }] of placed.entries()) {
    const end = startedAtMs + SECOND_MS;
    let within = 0;
    for (let at = first; (placed[at]?.startedAtMs ?? end) < end; at++) if (placed[at]!.endedAtMs < end) within++;
    if (within > rate) found.push(wrong(`was admitted ${within} times in the second from ${startedAtMs}`));
  }
  const perhaps = seen.filter((one) => !PLACELESS.has(codeOf(one)));
  const starts = perhaps.map(({ startedAtMs }) => startedAtMs).toSorted((a, b) => a - b);
  const ends = perhaps.map(({ endedAtMs }) => endedAtMs).toSorted((a, b) => a - b);
  for (const one of seen.filter((refused) => codeOf(refused) === 'rate_limited')) {
    const most = countUpTo(starts, one.endedAtMs) - countUpTo(ends, one.startedAtMs - SECOND_MS - 1);
    if (most < rate) found.push(wrong(`was refused at ${one.startedAtMs} with at most ${most} in the second before`));
  }
  return found;
}

/** How many of the sorted numbers are at most so large. */
function countUpTo(sorted: readonly number[], most: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (sorted[middle]! <= most) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** How long a gateway repeats a 429 at most, without the store, and a clock's millisecond. */
const REPEATED_MS = SECOND_MS + 1;
/** Returned before the key was checked, or while the store could not record its use. */
const NOT_STAMPED: ReadonlySet<string> = new Set([
  'unknown',
  'unauthorized',
  'key_revoked',
  'not_found',
  'method_not_allowed',
  'service_unavailable',
  'internal_error',
]);

/** L7 and L8: a revoked key is never accepted again, and a key's last use is at least the start of each answered request. */
function useFindings({ keys }: TeamAccount, seen: readonly Seen[]): Finding[] {
  const found: Finding[] = [];
  const stored = new Map(keys.map(({ keyId, lastUsedAtMs }) => [keyId, lastUsedAtMs ?? 0]));
  for (const one of seen) {
    const [code, last] = [codeOf(one), stored.get(one.keyId) ?? 0];
    if (one.afterRevocation && !['unknown', 'key_revoked', 'service_unavailable'].includes(code))
      found.push({ guarantee: 'L7', what: `key ${one.keyId} was answered ${code} by ${one.via} after its revocation` });
    if (!NOT_STAMPED.has(code) && last < one.startedAtMs - (code === 'rate_limited' ? REPEATED_MS : 0))
      found.push({
        guarantee: 'L8',
        what: `key ${one.keyId} was last used at ${last}, before a request that started at ${one.startedAtMs}`,
      });
  }
  return found;
}

function codeOf({ result }: Seen): string {
  return result.kind === 'fail' ? result.code : result.kind;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}
