// What a change of plan that takes effect at once makes costlier in the periods that run: for how
// many teams, by how much so far, and how many of them have already used more than they get.
import { amountText } from '../domain/money.ts';
import { sameLength } from '../domain/period.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { answered } from '../domain/store-unavailable.ts';
import { overageOf } from '../domain/usage-days.ts';
import { windowLimits } from '../domain/window-limits.ts';
import type { TeamRegistry, TeamSummary, Usage } from '../ports/team-registry.ts';

export interface Costlier {
  readonly teams: number;
  /** Those of them whose next request is refused, because a limit is below what they have used. */
  readonly refused: number;
  /** How much more the running periods cost, as far as they are used; in minor units. */
  readonly minor: number;
}

/** Of the running period and, if they are lowered, of the limits by minute to month. */
type Used = Pick<TeamSummary, 'characters' | 'allowanceUsed'> & Pick<Usage, 'windows'>;

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

/** What it does, for a sentence that begins with "This". Without a currency, in minor units. */
export function costlierText({ teams, refused, minor }: Costlier, currency?: string): string {
  const whose = teams === 1 ? 'one team' : `${teams} teams`;
  const refusals =
    teams === 1 ? 'its next request' : refused === teams ? 'the next request of each' : `the next request of ${refused} of them`;
  const refusedBelow = `${refusals} will be refused, because less is left than is used`;
  if (minor === 0 && refused === teams) return `changes the running period for ${whose}: ${refusedBelow}`;
  const amount = currency === undefined ? `${minor} minor units` : `${amountText(minor, currency)} ${currency}`;
  const by = minor === 0 ? 'for what is used from now on' : `by ${amount} for what has been used so far`;
  return `makes the running period costlier for ${whose}, ${by}${refused === 0 ? '' : `; ${refusedBelow}`}`;
}

/** Credit that was spent stays spent at its price. */
function costSoFar(limits: TeamLimits, charged: number): number {
  return limits.billing === 'quota' ? overageOf(charged, limits).cost_minor : 0;
}

function isUsedUp({ billing, characterLimit, overageCharacters }: TeamLimits, charged: number): boolean {
  return billing === 'quota' && charged > characterLimit + overageCharacters;
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
  const charged = characters - allowanceUsed;
  const byQuota = isUsedUp(to, charged) && !isUsedUp(from, charged);
  const byTests = to.testAllowance > 0 && allowanceUsed > to.testAllowance && allowanceUsed <= from.testAllowance;
  if (byQuota || byTests) return true;
  const limits = windowLimits(to.windows);
  return windows.some(({ per, usedRequests, usedCharacters, ...before }) => {
    const limit = limits.find((one) => one.per === per);
    return passes(usedRequests, before.requests, limit?.requests) || passes(usedCharacters, before.characters, limit?.characters);
  });
}

function passes(used: number, before = 0, after = Infinity): boolean {
  return used > after && used <= before;
}

/** A limit by minute to month that is new has counted nothing yet. */
function hasLowerWindow(from: TeamLimits, to: TeamLimits): boolean {
  const limits = windowLimits(to.windows);
  return windowLimits(from.windows).some(({ per, requests = 0, characters = 0 }) => {
    const limit = limits.find((one) => one.per === per);
    return (limit?.requests ?? Infinity) < requests || (limit?.characters ?? Infinity) < characters;
  });
}

/** Adds up changes of teams. */
export class CostlierSum {
  #teams = 0;
  #refused = 0;
  #minor = 0;

  /** What is used of limits by minute to month is not in a summary, and read where it counts. */
  async add(registry: TeamRegistry, { team: { teamId, limits: from }, ...summary }: UsedOfTeam, to: TeamLimits): Promise<void> {
    const used = hasLowerWindow(from, to) ? (answered(await registry.usage(teamId)) ?? summary) : summary;
    const by = costlierBy(from, to, used);
    if (by === undefined) return;
    this.#teams++;
    this.#minor += by;
    if (isBelowUsed(from, to, used)) this.#refused++;
  }

  get sum(): Costlier {
    return { teams: this.#teams, refused: this.#refused, minor: this.#minor };
  }
}

type UsedOfTeam = Pick<TeamSummary, 'team' | 'characters' | 'allowanceUsed'>;

/** What other limits at once make costlier for one team; `undefined` if nothing. */
export async function costlierFor(registry: TeamRegistry, teamId: string, to: TeamLimits): Promise<Costlier | undefined> {
  const used = answered(await registry.usage(teamId));
  if (used === undefined) return undefined;
  const sum = new CostlierSum();
  await sum.add(registry, used, to);
  return sum.sum.teams === 0 ? undefined : sum.sum;
}
