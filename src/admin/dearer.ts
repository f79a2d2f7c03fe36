// What a change of plan that takes effect at once makes dearer in the periods that run: for how many teams, and by how much so far.
import { sameLength } from '../domain/period-rule.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { overageOf } from '../domain/usage-report.ts';
import type { Team, TeamRegistry, TeamSummary } from '../ports/team-registry.ts';

export interface Dearer {
  readonly teams: number;
  /** What the running periods cost more than before, as far as they have been used; in minor units. */
  readonly minor: number;
}

/** What is charged of the running period: without what test keys use for nothing. */
type Used = Pick<TeamSummary, 'characters' | 'allowanceUsed'>;

/**
 * By how many minor units other limits make the period dearer in which so much was used; 0 if only what is used from now on costs
 * more, or if the team is now refused. `undefined` if it becomes no dearer. Another length of periods begins a new period: what was
 * used before it keeps its price.
 */
export function dearerBy(from: TeamLimits, to: TeamLimits, { characters, allowanceUsed }: Used): number | undefined {
  if (!sameLength(from.period, to.period)) return undefined;
  const charged = characters - allowanceUsed;
  const more = costSoFar(to, charged) - costSoFar(from, charged);
  if (more > 0) return more;
  const isRefused = hasQuota(to) && charged > most(to) && !(hasQuota(from) && charged > most(from));
  return isRefused || hasHigherPrice(from, to) ? 0 : undefined;
}

/** Whether it can be dearer for some usage; otherwise that need not be read. */
export function canBeDearer(from: TeamLimits, to: TeamLimits): boolean {
  if (!sameLength(from.period, to.period)) return false;
  const isLess = to.characterLimit < from.characterLimit || most(to) < most(from);
  return isLess || hasHigherPrice(from, to) || to.overageCapMinor > from.overageCapMinor || to.billing !== from.billing;
}

/** Credit that was spent stays spent at its price. */
function costSoFar(limits: TeamLimits, charged: number): number {
  return hasQuota(limits) ? overageOf(charged, limits).cost_minor : 0;
}

function hasQuota({ billing }: TeamLimits): boolean {
  return billing === 'quota';
}

function most({ characterLimit, overageCharacters }: TeamLimits): number {
  return characterLimit + overageCharacters;
}

/** For the same thing: overage, or credit. Whoever could buy no overage before pays nothing more for what there was. */
function hasHigherPrice(from: TeamLimits, to: TeamLimits): boolean {
  const isSold = [from, to].every((limits) => !hasQuota(limits) || limits.overageCharacters > 0);
  return from.billing === to.billing && isSold && to.minorPerMillion > from.minorPerMillion;
}

/** Adds up changes of teams. */
export class DearerSum {
  #teams = 0;
  #minor = 0;

  add(from: TeamLimits, to: TeamLimits, used: Used): void {
    const by = dearerBy(from, to, used);
    if (by === undefined) return;
    this.#teams++;
    this.#minor += by;
  }

  /** Some teams of a page of the registry get these limits. */
  async addPage(
    registry: TeamRegistry,
    page: { readonly after: string | undefined; readonly limit: number },
    teams: readonly Team[],
    to: TeamLimits,
  ): Promise<StoreUnavailable | undefined> {
    const asked = new Set(teams.filter(({ limits }) => canBeDearer(limits, to)).map(({ teamId }) => teamId));
    if (asked.size === 0) return undefined;
    const summaries = await registry.pageSummaries({ ...page, search: undefined });
    if (isUnavailable(summaries)) return summaries;
    for (const summary of summaries) if (asked.has(summary.team.teamId)) this.add(summary.team.limits, to, summary);
    return undefined;
  }

  get sum(): Dearer {
    return { teams: this.#teams, minor: this.#minor };
  }
}

/** What it does, for a sentence that begins with "This". `amount` writes minor units. */
export function dearerText({ teams, minor }: Dearer, amount: (minor: number) => string): string {
  const whose = teams === 1 ? 'one team' : `${teams} teams`;
  const by = minor === 0 ? 'for what is used from now on' : `by ${amount(minor)} for what has been used so far`;
  return `makes the running period dearer for ${whose}, ${by}`;
}

/** For where an amount has no better form. */
export function minorText(currency: string): (minor: number) => string {
  return (minor) => `${minor} minor units of ${currency}`;
}
