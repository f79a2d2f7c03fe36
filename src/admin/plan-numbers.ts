// A plan's numbers by the names that configurations give them, and where two sets of them differ.
import type { TeamLimits } from '../domain/plan.ts';

export type PlanNumbers = Readonly<Record<string, string | number>>;

/** In the order of the configuration; what only the other billing has is left out. */
export function planNumbers(limits: TeamLimits): PlanNumbers {
  const base = {
    billing: limits.billing,
    requests_per_second: limits.requestsPerSecond,
    max_characters_per_request: limits.maxCharactersPerRequest,
    max_glossaries: limits.maxGlossaries,
  };
  if (limits.billing === 'credit') return { ...base, credit_minor_per_million: limits.minorPerMillion, currency: limits.currency };
  return {
    ...base,
    characters: limits.characterLimit,
    period: limits.period,
    overage_cap_minor: limits.overageCapMinor,
    overage_minor_per_million: limits.minorPerMillion,
    currency: limits.currency,
  };
}

/** What one thing is and would be; `null` where it has no such number. */
export interface NumberChange {
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
