// Compares plans' numbers, under their names in the configuration: with teams, page by page.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { answered, answering } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { Team, TeamChange, TeamPage, TeamRegistry } from '../ports/team-registry.ts';
import { CostlierSum } from './costlier.ts';
import type { Costlier } from './costlier.ts';
import { numberChanges } from './plan-numbers.ts';
import type { NumberChange } from './plan-numbers.ts';
import type { PlanTime } from './team-terms.ts';

/** Limits how long one page keeps the store and the process busy. */
const PAGE_TEAMS = 200;

/** A number that a plan would change, and for how many teams. */
interface PlanChange extends NumberChange {
  readonly teams: number;
}

export interface TeamsBehind {
  /** Teams on the plan. */
  readonly members: number;
  /** Those with other numbers, and those for which the plan waits with other numbers. */
  readonly behind: readonly TeamBehind[];
  readonly changes: readonly PlanChange[];
  /** What changes that take effect at once make costlier. */
  readonly costlier: Costlier;
}

interface TeamBehind {
  readonly team: Team;
  readonly change: Pick<TeamChange, 'plan' | 'nextPlan'>;
}

export async function teamsBehind(teams: TeamRegistry, plan: NonNullable<TeamChange['plan']>, when: PlanTime): Promise<TeamsBehind> {
  const behind: TeamBehind[] = [];
  const changes = new Map<string, PlanChange>();
  const costlier = new CostlierSum();
  let members = 0;
  for await (const page of pagesOf(
    (asked) => teams.pageSummaries(asked),
    ({ team }) => team,
  )) {
    for (const summary of page) {
      const { team } = summary;
      if (team.plan === plan.name) members++;
      const change = changeOf(team, plan, when);
      if (change === undefined) continue;
      behind.push({ team, change });
      if (change.plan !== undefined) await costlier.add(teams, summary, plan.limits);
      const from = change.plan === undefined ? (team.nextPlan?.limits ?? team.limits) : team.limits;
      for (const one of numberChanges(from, change.nextPlan === null ? team.limits : plan.limits)) {
        const key = `${one.number} ${one.from}`;
        changes.set(key, { ...one, teams: (changes.get(key)?.teams ?? 0) + 1 });
      }
    }
  }
  return { members, behind, changes: [...changes.values()], costlier: costlier.sum };
}

/** Of a team. A waiting change to another plan stays, because the team leaves this one then. */
function changeOf(
  { plan, limits: held, nextPlan }: Team,
  applied: NonNullable<TeamChange['plan']>,
  when: PlanTime,
): Pick<TeamChange, 'plan' | 'nextPlan'> | undefined {
  const isMember = plan === applied.name;
  const waits = nextPlan?.name === applied.name;
  if (when === 'never') return isMember && waits ? { nextPlan: null } : undefined;
  const isWaitingBehind = waits && numberChanges(nextPlan.limits, applied.limits).length > 0;
  const isBehind = isMember && numberChanges(held, applied.limits).length > 0;
  if (when === 'next-period') {
    const orders = isBehind && nextPlan === undefined;
    return orders || isWaitingBehind ? { nextPlan: applied } : undefined;
  }
  if (!isBehind && !isWaitingBehind) return undefined;
  // Numbers of its own plan no longer have to wait.
  if (isMember && waits) return { plan: applied, nextPlan: null };
  return isBehind ? { plan: applied } : { nextPlan: applied };
}

/** A plan that teams have and the configuration lacks. */
interface MissingPlan {
  readonly plan: string;
  readonly teams: number;
}

export interface TeamsPlans {
  /** How many teams were checked. */
  readonly looked: number;
  /** By name. */
  readonly missing: readonly MissingPlan[];
}

/** Checks whether `plans` has the plans of the first `teamsMax` teams. */
export function missingPlans(
  teams: TeamRegistry,
  plans: ReadonlyMap<string, unknown>,
  teamsMax: number,
): Promise<TeamsPlans | StoreUnavailable> {
  return answering(async () => {
    const counts = new Map<string, number>();
    let looked = 0;
    for await (const page of pagesOf(
      (asked) => teams.pageTeams(asked),
      (team) => team,
    )) {
      if (looked >= teamsMax) break;
      looked += page.length;
      for (const { plan } of page) if (!plans.has(plan)) counts.set(plan, (counts.get(plan) ?? 0) + 1);
    }
    const missing = [...counts].map(([plan, count]) => ({ plan, teams: count }));
    return { looked, missing: missing.toSorted((one, other) => (one.plan < other.plan ? -1 : 1)) };
  });
}

/** What to do about such a plan. */
export function missingPlanText({ plan, teams }: MissingPlan): string {
  const [who, they, which] =
    teams === 1 ? ['1 team has', 'it keeps its', 'the team'] : [`${teams} teams have`, 'they keep their', 'the teams'];
  return `plans: ${who} the plan ${JSON.stringify(plan)}, which the configuration lacks; ${they} last numbers, and "plan apply" cannot change them: write the plan into the configuration again, or move ${which} with "lingate team update TEAM --plan PLAN"`;
}

/** How many teams are checked for plans that are gone: a few seconds' work in the background. */
export const TEAMS_CHECKED_MAX = 20_000;

async function* pagesOf<T>(
  read: (page: TeamPage) => Promise<readonly T[] | StoreUnavailable>,
  teamOf: (item: T) => Team,
): AsyncGenerator<readonly T[], void, void> {
  for (let after: string | undefined; ;) {
    const page = answered(await read({ after, limit: PAGE_TEAMS, search: undefined }));
    if (page.length > 0) yield page;
    if (page.length < PAGE_TEAMS) return;
    after = teamOf(page.at(-1)!).teamId;
    // SQLite answers synchronously: without this, callers would wait for the whole comparison.
    await nextTurn();
  }
}
