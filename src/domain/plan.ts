// Plans: the limits and prices that an operator sells, and the copy of them that applies to a team.
import { overageCharacters } from './money.ts';
import { anchorOf, lengthOf, periodRule } from './period.ts';
import type { PeriodAnchor } from './period.ts';
import { NO_WINDOWS, writtenWindows } from './window-limits.ts';
import type { WindowLimit } from './window-limits.ts';

interface PlanBase {
  readonly requests_per_second: number;
  readonly max_characters_per_request: number;
  readonly max_glossaries: number;
  /** Held for a document until it is counted; of the configuration, as the next two. */
  readonly document_characters?: number;
  /** How many documents of a team may be queued or translating. */
  readonly documents_at_once?: number;
  /** The bytes of all files of a team; by default a quarter of what the store takes. */
  readonly document_bytes?: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Defaults to `creation`. */
  readonly period_anchor?: PeriodAnchor;
  /** What test keys may use for nothing in each period. Without it they cost as live ones. */
  readonly test_keys?: { readonly characters: number };
  /** By minute, hour, day, week and month; entries for the same time are joined. */
  readonly limits?: readonly WindowLimit[];
}

/** Included characters per period, then overage up to a cap. */
export interface QuotaPlan extends PlanBase {
  readonly billing: 'quota';
  readonly characters: number;
  /** ISO 8601 duration. */
  readonly period: string;
  readonly overage_cap_minor: number;
  readonly overage_minor_per_million: number;
}

/** Prepaid credit, drawn down per character. */
export interface CreditPlan extends PlanBase {
  readonly billing: 'credit';
  readonly credit_minor_per_million: number;
}

export type Plan = QuotaPlan | CreditPlan;

const CREDIT_REPORT_PERIOD = 'P1M';

/**
 * As stored in a team's record, in one shape for both billing types. Copied by `team create`, `team
 * update --plan` and `plan apply`; the admission reads only this copy.
 */
export interface TeamLimits {
  readonly billing: 'quota' | 'credit';
  readonly requestsPerSecond: number;
  readonly maxCharactersPerRequest: number;
  readonly maxGlossaries: number;
  /** Included characters per period; 0 with credit. */
  readonly characterLimit: number;
  /** Characters beyond `characterLimit` that the overage cap covers; 0 with credit. */
  readonly overageCharacters: number;
  readonly overageCapMinor: number;
  /** The overage price with quota, the price with credit: minor units per million characters. */
  readonly minorPerMillion: number;
  /** What test keys use for nothing in a period, and not more; 0 if they cost as live ones. */
  readonly testAllowance: number;
  readonly currency: string;
  /** A rule (period.ts): an ISO 8601 duration, or `P1M@calendar`. */
  readonly period: string;
  /** The limits by minute to month, as `writtenWindows` (window-limits.ts); '' for none. */
  readonly windows: string;
}

/** The whole numbers among them. New ones come last, and are 0 for teams until their plan is applied. */
export const LIMIT_NUMBERS = [
  'requestsPerSecond',
  'maxCharactersPerRequest',
  'maxGlossaries',
  'characterLimit',
  'overageCharacters',
  'overageCapMinor',
  'minorPerMillion',
  'testAllowance',
] as const satisfies readonly (keyof TeamLimits)[];

export function limitsOf(plan: Plan): TeamLimits {
  const base = {
    requestsPerSecond: plan.requests_per_second,
    maxCharactersPerRequest: plan.max_characters_per_request,
    maxGlossaries: plan.max_glossaries,
    testAllowance: plan.test_keys?.characters ?? 0,
    currency: plan.currency,
    windows: writtenWindows(plan.limits ?? []),
  };
  if (plan.billing === 'credit') {
    return {
      ...base,
      billing: 'credit',
      characterLimit: 0,
      overageCharacters: 0,
      overageCapMinor: 0,
      minorPerMillion: plan.credit_minor_per_million,
      period: periodRule(CREDIT_REPORT_PERIOD, plan.period_anchor),
    };
  }
  return {
    ...base,
    billing: 'quota',
    characterLimit: plan.characters,
    overageCharacters: overageCharacters(plan.overage_cap_minor, plan.overage_minor_per_million),
    overageCapMinor: plan.overage_cap_minor,
    minorPerMillion: plan.overage_minor_per_million,
    period: periodRule(plan.period, plan.period_anchor),
  };
}

/** Those of its billing, under their names in the configuration. */
export function numbersOf({ billing, testAllowance: free, ...limits }: TeamLimits) {
  return {
    billing,
    requests_per_second: limits.requestsPerSecond,
    max_characters_per_request: limits.maxCharactersPerRequest,
    max_glossaries: limits.maxGlossaries,
    ...(free > 0 && { test_key_characters: free }),
    ...(billing === 'credit'
      ? { credit_minor_per_million: limits.minorPerMillion }
      : {
          characters: limits.characterLimit,
          period: lengthOf(limits.period),
          overage_cap_minor: limits.overageCapMinor,
          overage_minor_per_million: limits.minorPerMillion,
        }),
    currency: limits.currency,
  };
}

/** All of them: with what periods begin by, and the windows as they are stored. */
export function planNumbers(limits: TeamLimits): Readonly<Record<string, string | number>> {
  const windows = limits.windows !== NO_WINDOWS && { limits: limits.windows };
  return { ...numbersOf(limits), period_anchor: anchorOf(limits.period), ...windows };
}
