// Which teams are held to other numbers than their plan has in the configuration: they are looked at page by page, however many there are.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { TeamLimits } from '../domain/plan.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { numberChanges } from './plan-numbers.ts';
import type { NumberChange } from './plan-numbers.ts';
import type { Team, TeamRegistry } from '../ports/team-registry.ts';

export interface PlanComparison {
  /** Teams that were looked at, whatever their plan. */
  readonly looked: number;
  /** False when there are more teams than were to be looked at. */
  readonly complete: boolean;
  /** Of those, teams on the plan. */
  readonly members: number;
  /** Of those, teams that are held to other numbers. */
  readonly behind: number;
  /** The first of them. */
  readonly examples: readonly TeamBehind[];
}

export interface TeamBehind {
  readonly team: Team;
  /** What the team is held to and what the plan says, where they differ. */
  readonly differences: readonly { readonly number: keyof TeamLimits; readonly held: string | number; readonly plan: string | number }[];
}

/** Bounds how long one page keeps the store and the process busy. */
const PAGE_TEAMS = 200;
const EXAMPLES_MAX = 10;

/** Looks at the first `teamsMax` teams. */
export async function comparePlan(
  teams: TeamRegistry,
  name: string,
  limits: TeamLimits,
  teamsMax: number,
): Promise<PlanComparison | StoreUnavailable> {
  let looked = 0;
  let members = 0;
  let behind = 0;
  const examples: TeamBehind[] = [];
  for await (const page of pagesOf(teams)) {
    if (isUnavailable(page)) return page;
    if (looked >= teamsMax) return { looked, complete: false, members, behind, examples };
    looked += page.length;
    for (const team of page.filter(({ plan }) => plan === name)) {
      members++;
      const differences = differencesOf(team.limits, limits);
      if (differences.length === 0) continue;
      behind++;
      if (examples.length < EXAMPLES_MAX) examples.push({ team, differences });
    }
  }
  return { looked, complete: true, members, behind, examples };
}

/** A number that a plan would change, and for how many teams. */
export interface PlanChange extends NumberChange {
  readonly teams: number;
}

export interface TeamsBehind {
  /** All teams on the plan. */
  readonly members: number;
  /** The ids of those that are held to other numbers. */
  readonly behind: readonly string[];
  readonly changes: readonly PlanChange[];
}

export async function teamsBehind(teams: TeamRegistry, name: string, limits: TeamLimits): Promise<TeamsBehind | StoreUnavailable> {
  let members = 0;
  const behind: string[] = [];
  const changes = new Map<string, PlanChange>();
  for await (const page of pagesOf(teams)) {
    if (isUnavailable(page)) return page;
    for (const team of page.filter(({ plan }) => plan === name)) {
      members++;
      if (differencesOf(team.limits, limits).length === 0) continue;
      behind.push(team.teamId);
      for (const change of numberChanges(team.limits, limits)) {
        const key = `${change.number} ${change.from}`;
        changes.set(key, { ...change, teams: (changes.get(key)?.teams ?? 0) + 1 });
      }
    }
  }
  return { members, behind, changes: [...changes.values()] };
}

/** Ends after the last page, or after the first `unavailable`. */
async function* pagesOf(teams: TeamRegistry): AsyncGenerator<readonly Team[] | StoreUnavailable> {
  let after: string | undefined;
  do {
    const page = await teams.pageTeams({ after, limit: PAGE_TEAMS, search: undefined });
    if (isUnavailable(page) || page.length > 0) yield page;
    after = isUnavailable(page) || page.length < PAGE_TEAMS ? undefined : page.at(-1)?.teamId;
    // SQLite answers without waiting: without this, callers would wait for the whole comparison.
    await nextTurn();
  } while (after !== undefined);
}

function differencesOf(held: TeamLimits, plan: TeamLimits): TeamBehind['differences'] {
  const numbers = Object.keys(plan) as (keyof TeamLimits)[];
  return numbers.filter((number) => held[number] !== plan[number]).map((number) => ({ number, held: held[number], plan: plan[number] }));
}
