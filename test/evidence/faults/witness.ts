// Observes teams during a run: creates them, waits until their accounts are settled, and assembles what the auditor judges.
import { expect } from 'vitest';
import { limitsOf, toMicro } from '../../support/door/terms.ts';
import { answered } from '../../../src/index.ts';
import { openStore } from '../../support/door/stores.ts';
import type { Plan, TeamLimits } from '../../../src/domain/plan.ts';
import type { Store } from '../../../src/ports/store.ts';
import { makeTeam } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { figuresOf, findings } from '../../support/auditor/witnessed.ts';
import type { Crash, Figures, Run, Seen, TeamAccount } from '../../support/auditor/witnessed.ts';
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

/** With a limit by month as well, which it does not reach: what is used of it is judged. */
export async function watchedTeam(store: Store, given: Plan, creditMinor = 0): Promise<WatchedTeam> {
  const plan = { ...given, limits: [{ per: 'month', characters: 1_000_000_000_000 }] } as const;
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
  readonly crashes?: readonly Crash[];
  /** The access logs, if all of them were recorded. */
  readonly logged?: readonly LoggedRequest[];
}

/** Checks a run against every guarantee, and returns the figures. Fails with the first violations. */
export async function expectGuarantees(evidence: Evidence): Promise<Figures> {
  const run = await runOf(evidence);
  const broken = findings(run).map(({ guarantee, what }) => `${guarantee}: ${what}`);
  expect(broken.slice(0, 20)).toEqual([]);
  return figuresOf(run);
}

export async function runOf({ store, teams, seen, crashes = [], logged }: Evidence): Promise<Run> {
  const accounts = await Promise.all(teams.map((team) => accountOf(store, team)));
  const delivered = logged
    ?.filter(({ status, characters }) => status === 200 && characters > 0)
    .map(({ request_id: requestId, team_id: teamId, key_id: keyId, characters }) => ({ requestId, teamId, keyId, characters }));
  return { teams: accounts, seen, crashes, delivered };
}

/** As the store reports it. */
async function accountOf(store: Store, team: WatchedTeam): Promise<TeamAccount> {
  const { teamId, limits, startMicro } = team;
  const standing = answered(await store.teams.standing(teamId));
  const usage = answered(await store.teams.usage(teamId));
  const history = answered(await store.history.days(teamId, ALL_DAYS));
  const periods = answered(await store.history.periods(teamId));
  if (standing === undefined || usage === undefined || history === undefined || periods === undefined)
    throw new Error(`the store has lost team ${teamId}`);
  return { teamId, limits, startMicro, standing, keys: usage.keys, days: history.days, periods, windows: usage.windows ?? [] };
}
