// Plans: the limits and prices that an operator sells, and the copy of them that applies to a team.
import type { Static } from 'typebox';
import { CHARACTERS_MAX, RATE_MAX } from './key-limits.ts';
import { isCurrency, MINOR_MAX, overageCharacters } from './money.ts';
import { closed, text, whole } from './option-schema.ts';
import { anchorOf, lengthOf, parseDuration, periodRule } from './period.ts';
import { Type } from './typebox.ts';
import { NO_WINDOWS, windowListSchema, writtenWindows } from './window-limits.ts';

/** In minor units per million characters; all products with other limits are exact. */
const PRICE_MAX = 100_000_000;

/** The members that plans of every billing have. */
const planBase = {
  requests_per_second: whole(1, RATE_MAX),
  max_characters_per_request: whole(1, 10_000_000),
  max_glossaries: whole(0, 10_000),
  // Held for a document until it is counted; of the configuration, as the next two.
  document_characters: Type.Optional(whole(1, CHARACTERS_MAX)),
  // How many documents of a team may be queued or translating.
  documents_at_once: Type.Optional(whole(0, 1000)),
  // The bytes of all files of a team; by default a quarter of what the store takes.
  document_bytes: Type.Optional(whole(0, 1_099_511_627_776)),
  // By default `creation`.
  period_anchor: Type.Optional(Type.Enum(['creation', 'calendar'])),
  // What test keys may use for nothing in each period. Without it they cost as live ones.
  test_keys: Type.Optional(Type.Object({ characters: whole(1, CHARACTERS_MAX) }, closed)),
  currency: text('an ISO 4217 code of three capital letters, for example EUR', isCurrency),
  // By minute, hour, day, week and month; entries for the same time are joined.
  limits: Type.Optional(windowListSchema()),
};

/** Included characters per period, then overage up to a cap. */
export const QuotaPlanSchema = Type.Object(
  {
    billing: Type.Enum(['quota']),
    ...planBase,
    characters: whole(0, CHARACTERS_MAX),
    period: text('an ISO 8601 duration of a second or more, for example P1M, P7D or PT30S', (value) => parseDuration(value) !== undefined, {
      default: 'P1M',
    }),
    overage_cap_minor: whole(0, MINOR_MAX, 0),
    overage_minor_per_million: whole(0, PRICE_MAX, 0),
  },
  closed,
);

/** Prepaid credit, drawn down per character. A price of 0 would make it unlimited. */
export const CreditPlanSchema = Type.Object(
  { billing: Type.Enum(['credit']), ...planBase, credit_minor_per_million: whole(1, PRICE_MAX) },
  closed,
);

/** As the configuration has it, with its defaults. */
export type QuotaPlan = Readonly<Static<typeof QuotaPlanSchema>>;
export type CreditPlan = Readonly<Static<typeof CreditPlanSchema>>;
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
