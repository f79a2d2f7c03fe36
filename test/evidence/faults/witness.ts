// Observes teams during a run: creates them, waits until their accounts are settled, and assembles the history.
import { expect } from 'vitest';
import { limitsOf, toMicro } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { openStore } from '../../support/door/stores.ts';
import type { Plan, TeamLimits } from '../../../src/domain/plan.ts';
import type { Store } from '../../../src/ports/store.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { priceOf } from '../../support/auditor/totals.ts';
import { figuresOf, findings } from '../../support/history.ts';
import type { Crash, Figures, History, Operation, Seen, TeamAccount } from '../../support/history.ts';
import type { LoggedRequest } from './fleet.ts';
import { SILENT } from '../../support/silent-log.ts';

const ALL_DAYS = { from: 0, to: 100_000 };

export interface WatchedTeam extends TestTeam {
  readonly limits: TeamLimits;
  readonly startMicro: number;
}

/** The operator's own connection, with a long timeout: cores may be busy. */
export function openWitness(url: string): Promise<Store> {
  return openStore(url, { log: SILENT, clock: { nowMs: () => Date.now() }, commandTimeoutMs: 5000 });
}

export async function watchedTeam(store: Store, plan: Plan, creditMinor = 0): Promise<WatchedTeam> {
  return { ...(await makeTeam(store, plan, creditMinor)), limits: limitsOf(plan), startMicro: toMicro(creditMinor) };
}

/** Resolves when nothing is held any more; fails if that takes longer than `withinMs`. */
export async function untilQuiet(store: Store, teams: readonly WatchedTeam[], withinMs: number): Promise<void> {
  const open = async (): Promise<number> => {
    const standings = await Promise.all(teams.map(({ teamId }) => store.teams.standing(teamId)));
    return standings.reduce((sum, standing) => sum + (answered(standing)?.openReservations ?? 0), 0);
  };
  // While the store is down there is nothing to read.
  await expect.poll(() => open().catch(() => -1), { timeout: withinMs, interval: 50 }).toBe(0);
}

/** Ends each team's period, and returns the sums of the closed ones. Call it after a run: a history has one period of each team. */
export async function closedCharacters(store: Store, teams: readonly WatchedTeam[]): Promise<number> {
  let total = 0;
  for (const { teamId, limits } of teams) {
    answered(await store.teams.updateTeam(teamId, { plan: { name: 'closing', limits: { ...limits, period: 'P7D' } } }));
    const [running, closed] = answered(await store.history.periods(teamId)) ?? [];
    expect(running).toMatchObject({ closed: false, characters: 0, plan: 'closing' });
    if (closed === undefined) continue;
    expect(closed).toMatchObject({ closed: true, limits });
    total += closed.characters;
  }
  return total;
}

export interface Evidence {
  readonly store: Store;
  readonly teams: readonly WatchedTeam[];
  readonly seen: readonly Seen[];
  /** What the store wrote, where its own log says so; otherwise the access logs say what it must have. */
  readonly journal?: (() => readonly Operation[]) | undefined;
  /** Reservations that are stored at the end, where that can be read beside the standing. */
  readonly recordsLeft?: ((teamId: string) => Promise<number>) | undefined;
  readonly crashes?: readonly Crash[];
  /** The access logs, if all of them were kept. */
  readonly logged?: readonly LoggedRequest[];
}

/** Checks a run against every invariant, and returns the figures. Fails with the first violations. */
export async function expectInvariants(evidence: Evidence): Promise<Figures> {
  const history = await historyOf(evidence);
  const broken = findings(history).map(({ invariant, what }) => `${invariant}: ${what}`);
  expect(broken.slice(0, 20)).toEqual([]);
  return figuresOf(history);
}

export async function historyOf({ store, teams, seen, journal, recordsLeft, crashes = [], logged }: Evidence): Promise<History> {
  const accounts = await Promise.all(teams.map((team) => accountOf(store, team, recordsLeft)));
  // The accounts are read first: that writes down leases which have ended.
  const watched = new Set(teams.map(({ teamId }) => teamId));
  const answeredIds = new Set(seen.flatMap(({ result }) => (result.kind === 'unknown' ? [] : [result.requestId])));
  const known = (logged ?? []).filter((line) => line.status === 200 || answeredIds.has(line.request_id));
  const written = journal === undefined ? known.flatMap((line) => impliedBy(line, teams)) : journal();
  const operations = written.filter(({ teamId }) => watched.has(teamId));
  if (logged === undefined) return { teams: accounts, seen, operations, crashes };
  const handed = new Set(logged.filter(({ status }) => status === 200).map((line) => line.request_id));
  return { teams: accounts, seen, operations, crashes, handed };
}

/** What was delivered must have been charged, and nothing else: a store that did otherwise has other sums. */
function impliedBy(line: LoggedRequest, teams: readonly WatchedTeam[]): Operation[] {
  const { request_id: requestId, team_id: teamId, key_id: keyId, characters, status, code } = line;
  const limits = teams.find((team) => team.teamId === teamId)?.limits;
  const isCharged = status === 200 && characters > 0;
  if (limits === undefined || !(isCharged || code === 'engine_unavailable')) return [];
  const reserved = { requestId, keyId, characters, micro: priceOf(characters, limits, 'live'), leaseUntilMs: Infinity };
  const ended = { requestId, as: isCharged ? ('committed' as const) : ('released' as const), atMs: Date.parse(line.time) };
  const nothing = { teamId, reserved: [], ended: [], counters: {} };
  return [
    { ...nothing, reserved: [reserved] },
    { ...nothing, ended: [ended] },
  ];
}

/** As the store reports it. */
async function accountOf(
  store: Store,
  team: WatchedTeam,
  recordsLeft: Evidence['recordsLeft'] = () => Promise.resolve(0),
): Promise<TeamAccount> {
  const { teamId, limits, startMicro } = team;
  const standing = answered(await store.teams.standing(teamId));
  const usage = answered(await store.teams.usage(teamId));
  const history = answered(await store.history.days(teamId, ALL_DAYS));
  const periods = answered(await store.history.periods(teamId));
  if (standing === undefined || usage === undefined || history === undefined || periods === undefined)
    throw new Error(`the store has lost team ${teamId}`);
  const use = { keys: usage.keys, days: history.days, periods };
  return { teamId, limits, startMicro, standing, ...use, recordsLeft: await recordsLeft(teamId) };
}
