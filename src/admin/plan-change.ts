// A plan's numbers as operators see them, and what it changes for teams: which of their numbers, what
// that makes costlier in the periods that run, which teams have other numbers than the plan, and what
// is asked before.
import { hash } from 'node:crypto';
import type { Static } from 'typebox';
import { nearest } from '../config/nearest.ts';
import { amountText } from '../domain/money.ts';
import { sameLength } from '../domain/period.ts';
import { limitsOf, planNumbers } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { answered, answering } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { Type } from '../domain/typebox.ts';
import { overageOf } from '../domain/usage-days.ts';
import { NO_WINDOWS, windowLimits } from '../domain/window-limits.ts';
import type { Team, TeamChange, TeamRegistry, TeamSummary, Usage } from '../ports/team-registry.ts';
import { inOrder } from './listing.ts';
import type { Plans } from './operation-context.ts';
import { RefusedError, refused } from './operation.ts';
import type { AskedBefore, OperationRefusal } from './operation.ts';

/** When a change of plan takes effect. */
export const PLAN_TIMES = ['now', 'next-period', 'never'] as const;
export type PlanTime = (typeof PLAN_TIMES)[number];

export type NamedPlan = NonNullable<TeamChange['plan']>;

/** A plan of the configuration, with its numbers. */
export function planNamed(plans: Plans, name: string, more: Partial<OperationRefusal> = {}): NamedPlan {
  const plan = plans.get(name);
  if (plan !== undefined) return { name, limits: limitsOf(plan) };
  const all = [...plans.keys()];
  const similar = nearest(name, all);
  const named = `the configuration has no plan ${JSON.stringify(name)}; the plans are ${all.join(', ')}`;
  throw new RefusedError({
    ...refused('plan', `there is no such plan; the plans are ${all.join(', ')}`),
    named: similar === undefined ? named : `${named}; did you mean ${similar}?`,
    ...more,
  });
}

/** The value now and the value it would get; `null` if there is no such number. */
interface NumberChange {
  readonly number: string;
  readonly from: string | number | null;
  readonly to: string | number | null;
}

export function numberChanges(from: TeamLimits, to: TeamLimits): NumberChange[] {
  const [before, after] = [planNumbers(from), planNumbers(to)];
  return [...new Set([...Object.keys(after), ...Object.keys(before)])]
    .map((number) => ({ number, from: before[number] ?? null, to: after[number] ?? null }))
    .filter((change) => change.from !== change.to);
}

export const CostlierAnswer = Type.Object(
  {
    teams: Type.Integer({ minimum: 0, description: 'For how many teams.' }),
    refused: Type.Integer({
      minimum: 0,
      description: 'Of how many of them the next request is refused: they have used more than they get.',
    }),
    minor: Type.Integer({ minimum: 0, description: 'By how many minor units, for what has been used so far.' }),
  },
  { description: 'What became costlier in running periods, because a plan took effect at once.' },
);

/** What a change that takes effect at once makes costlier in running periods. */
type Costlier = Static<typeof CostlierAnswer>;

/** Of the running period and, if they are lowered, of the limits by minute to month. */
type Used = Pick<TeamSummary, 'characters' | 'allowanceUsed'> & Pick<Usage, 'windows'>;

/** For one team; of 0 teams if nothing is costlier. */
export function costlierFor(from: TeamLimits, to: TeamLimits, used: Used): Costlier {
  const minor = costlierBy(from, to, used);
  return minor === undefined ? NOTHING_COSTLIER : { teams: 1, refused: isBelowUsed(from, to, used) ? 1 : 0, minor };
}

const NOTHING_COSTLIER: Costlier = { teams: 0, refused: 0, minor: 0 };

/**
 * By how many minor units the used part gets costlier: 0 if only what comes does, or a limit is
 * below it; `undefined` for none. Another length of periods begins a new one.
 */
export function costlierBy(from: TeamLimits, to: TeamLimits, used: Used): number | undefined {
  if (!sameLength(from.period, to.period)) return undefined;
  const charged = used.characters - used.allowanceUsed;
  // Amounts of another currency cannot be subtracted.
  const more = costSoFar(to, charged) - (from.currency === to.currency ? costSoFar(from, charged) : 0);
  if (more > 0) return more;
  const isMore = hasHigherPrice(from, to) || paysForQuota(from, to, charged) || paysForTests(from, to);
  return isMore || isBelowUsed(from, to, used) ? 0 : undefined;
}

/** Credit that was spent stays spent at its price. */
function costSoFar(limits: TeamLimits, charged: number): number {
  return limits.billing === 'quota' ? overageOf(charged, limits).cost_minor : 0;
}

/**
 * For the same: overage, or credit; in another currency, any price. Who could buy no overage pays
 * nothing more for what there was.
 */
function hasHigherPrice(from: TeamLimits, to: TeamLimits): boolean {
  const isSold = [from, to].every((limits) => limits.billing !== 'quota' || limits.overageCharacters > 0);
  return from.billing === to.billing && isSold && to.minorPerMillion > priceIn(to.currency, from);
}

/** No price of another currency can be compared. */
function priceIn(currency: string, limits: TeamLimits): number {
  return limits.currency === currency ? limits.minorPerMillion : 0;
}

/**
 * A quota becomes credit, and what comes next was included, or cost less as overage. A team that
 * has used nothing yet begins its period on credit, as a new one, at no higher price.
 */
function paysForQuota(from: TeamLimits, to: TeamLimits, charged: number): boolean {
  if (from.billing !== 'quota' || to.billing === 'quota' || charged === 0) return false;
  const isIncluded = charged < from.characterLimit;
  return isIncluded ? to.minorPerMillion > 0 : from.overageCharacters > 0 && to.minorPerMillion > priceIn(to.currency, from);
}

/** Test keys used characters for nothing, and cost what live ones do now. */
function paysForTests(from: TeamLimits, to: TeamLimits): boolean {
  return from.testAllowance > 0 && to.testAllowance === 0;
}

/** Requests are refused by a limit that is below what is used already, and were not before. */
function isBelowUsed(from: TeamLimits, to: TeamLimits, { characters, allowanceUsed, windows = [] }: Used): boolean {
  const most = ({ billing, characterLimit, overageCharacters }: TeamLimits) =>
    billing === 'quota' ? characterLimit + overageCharacters : undefined;
  // Without an allowance, test keys cost what live ones do.
  const free = ({ testAllowance }: TeamLimits) => testAllowance || undefined;
  if (passes(characters - allowanceUsed, most(from), most(to)) || passes(allowanceUsed, from.testAllowance, free(to))) return true;
  const limits = windowLimits(to.windows);
  return windows.some(({ per, usedRequests, usedCharacters, ...before }) => {
    const limit = limits.find((one) => one.per === per);
    return passes(usedRequests, before.requests ?? 0, limit?.requests) || passes(usedCharacters, before.characters ?? 0, limit?.characters);
  });
}

function passes(used: number, before = Infinity, after = Infinity): boolean {
  return used > after && used <= before;
}

/** What it does, for a sentence that begins with "This". Without a currency, in minor units. */
export function costlierText({ teams, refused: refusals, minor }: Costlier, currency?: string): string {
  const whose = teams === 1 ? 'one team' : `${teams} teams`;
  const which =
    teams === 1 ? 'its next request' : refusals === teams ? 'the next request of each' : `the next request of ${refusals} of them`;
  const refusedBelow = `${which} will be refused, because less is left than is used`;
  if (minor === 0 && refusals === teams) return `changes the running period for ${whose}: ${refusedBelow}`;
  const amount = currency === undefined ? `${minor} minor units` : `${amountText(minor, currency)} ${currency}`;
  const by = minor === 0 ? 'for what is used from now on' : `by ${amount} for what has been used so far`;
  return `makes the running period costlier for ${whose}, ${by}${refusals === 0 ? '' : `; ${refusedBelow}`}`;
}

/** What is asked before a plan makes somebody pay more, or refuses somebody; with what is shown besides. */
export function questionOf({ teams, refused: refusals, minor }: Costlier, { name, limits }: NamedPlan, ...shown: unknown[]): AskedBefore {
  const mark = hash('sha256', JSON.stringify([name, limits, teams, refusals, ...shown]), 'base64url');
  const does = `This ${costlierText({ teams, refused: refusals, minor }, limits.currency)}.`;
  return { does, refuses: refusals > 0, mark, word: name, wordIs: "the plan's name" };
}

/** Such a change, if nobody has confirmed it. */
export function unconfirmed(costlier: Costlier, currency: string): OperationRefusal {
  const otherwise = 'send "confirm": true to change it anyway, or "when": "next-period"';
  return { ...refused('confirm', `this ${costlierText(costlier, currency)}; ${otherwise}`), members: { dearer: { ...costlier } } };
}

export interface ComparedPlan {
  readonly plan: NamedPlan;
  /** Teams on the plan. */
  readonly members: number;
  /** Those with other numbers, and those for which the plan waits with other numbers. */
  readonly behind: readonly { readonly team: Team; readonly change: Pick<TeamChange, 'plan' | 'nextPlan'> }[];
  /** Each number that the plan would change, and for how many teams. */
  readonly changes: readonly (NumberChange & { readonly teams: number })[];
  /** What changes that take effect at once make costlier. */
  readonly costlier: Costlier;
}

/** Limits how long one page keeps the store and the process busy. */
const PAGE_TEAMS = 200;

/** What applying a plan would change. */
export async function comparedWithTeams(teams: TeamRegistry, plan: NamedPlan, when: PlanTime): Promise<ComparedPlan> {
  const behind: ComparedPlan['behind'][number][] = [];
  const changes = new Map<string, ComparedPlan['changes'][number]>();
  let [members, costlier] = [0, NOTHING_COSTLIER];
  const read = (after: string | undefined, limit: number) => teams.pageSummaries({ after, limit, search: undefined });
  for await (const page of inOrder(read, ({ team }) => team.teamId, PAGE_TEAMS)) {
    for (const summary of page) {
      const { team } = summary;
      if (team.plan === plan.name) members++;
      const change = changeOf(team, plan, when);
      if (change === undefined) continue;
      behind.push({ team, change });
      if (change.plan !== undefined) costlier = sumOf(costlier, await costlierForTeam(teams, summary, plan.limits));
      for (const one of numberChanges(heldBefore(team, change), change.nextPlan === null ? team.limits : plan.limits)) {
        const key = `${one.number} ${one.from}`;
        changes.set(key, { ...one, teams: (changes.get(key)?.teams ?? 0) + 1 });
      }
    }
  }
  return { plan, members, behind, changes: [...changes.values()], costlier };
}

/** What is used of limits by minute to month is not in a summary, and read where it may count. */
async function costlierForTeam(teams: TeamRegistry, { team, ...summary }: TeamSummary, to: TeamLimits): Promise<Costlier> {
  const isInWindows = to.windows !== NO_WINDOWS && to.windows !== team.limits.windows;
  return costlierFor(team.limits, to, (isInWindows && answered(await teams.usage(team.teamId))) || summary);
}

function sumOf(one: Costlier, other: Costlier): Costlier {
  return { teams: one.teams + other.teams, refused: one.refused + other.refused, minor: one.minor + other.minor };
}

/** The numbers of a team that a change replaces: its own, or those that wait. */
export function heldBefore({ limits, nextPlan }: Team, { plan }: Pick<TeamChange, 'plan'>): TeamLimits {
  return plan === undefined ? (nextPlan?.limits ?? limits) : limits;
}

/** Of a team. A waiting change to another plan stays, because the team leaves this one then. */
function changeOf(
  { plan, limits: held, nextPlan }: Team,
  applied: NamedPlan,
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

/** How many teams are checked for plans that are gone: a few seconds' work in the background. */
const TEAMS_CHECKED_MAX = 20_000;

/** Checks whether `plans` has the plans of the first teams. */
export function missingPlans(teams: TeamRegistry, plans: Plans): Promise<TeamsPlans | StoreUnavailable> {
  return answering(async () => {
    const counts = new Map<string, number>();
    let looked = 0;
    const read = (after: string | undefined, limit: number) => teams.pageTeams({ after, limit, search: undefined });
    for await (const page of inOrder(read, ({ teamId }) => teamId, PAGE_TEAMS)) {
      looked += page.length;
      for (const { plan } of page) if (!plans.has(plan)) counts.set(plan, (counts.get(plan) ?? 0) + 1);
      if (looked >= TEAMS_CHECKED_MAX) break;
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
