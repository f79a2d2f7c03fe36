// A plan's numbers, under their names in the configuration, and how two plans' differ.
import { anchorOf, lengthOf } from '../domain/period.ts';
import { numbersByMember } from '../domain/plan.ts';
import type { TeamLimits } from '../domain/plan.ts';
import { NO_WINDOWS } from '../domain/window-limits.ts';

/** In the order of the configuration; numbers of the other billing are left out. */
export function planNumbers(limits: TeamLimits): Readonly<Record<string, string | number>> {
  const windows: Record<string, string> = limits.windows === NO_WINDOWS ? {} : { limits: limits.windows };
  const { period, currency } = limits;
  return { ...numbersOfAll(limits), period_anchor: anchorOf(period), ...numbersOfBilling(limits), ...windows, currency };
}

/** Those that do not depend on the plan's billing. */
export function numbersOfAll(limits: TeamLimits) {
  return { billing: limits.billing, ...numbersByMember(limits) };
}

type NumbersOfBilling =
  | { readonly credit_minor_per_million: number }
  | {
      readonly characters: number;
      readonly period: string;
      readonly overage_cap_minor: number;
      readonly overage_minor_per_million: number;
    };

/** Those that do. */
export function numbersOfBilling(limits: TeamLimits): NumbersOfBilling {
  if (limits.billing === 'credit') return { credit_minor_per_million: limits.minorPerMillion };
  return {
    characters: limits.characterLimit,
    period: lengthOf(limits.period),
    overage_cap_minor: limits.overageCapMinor,
    overage_minor_per_million: limits.minorPerMillion,
  };
}

/** The value now and the value it would get; `null` if there is no such number. */
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
