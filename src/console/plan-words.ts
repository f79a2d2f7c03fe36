// A plan's numbers by the names that people know them by, and its periods.
import type { TeamLimits } from '../domain/plan.ts';
import { count, money } from './shown.ts';

export const NUMBER_LABELS: Readonly<Record<keyof TeamLimits, string>> = {
  billing: 'billing',
  requestsPerSecond: 'requests a second',
  maxCharactersPerRequest: 'characters a request',
  maxGlossaries: 'glossaries',
  characterLimit: 'characters of a period',
  overageCharacters: 'characters beyond these',
  overageCapMinor: 'overage, at most',
  minorPerMillion: 'price of a million',
  currency: 'currency',
  period: 'period',
};

const PERIODS: Readonly<Record<string, string>> = { P1D: 'a day', P1W: 'a week', P1M: 'a month', P3M: 'a quarter', P1Y: 'a year' };

/** `a month` behind an amount, or the duration itself: `per PT30S`. */
export function periodText(period: string): string {
  return PERIODS[period] ?? `per ${period}`;
}

/** One of a plan's numbers as text; amounts are in the plan's currency. */
export function numberText(number: keyof TeamLimits, value: string | number, currency: string): string {
  if (typeof value === 'string') return value;
  return number === 'overageCapMinor' || number === 'minorPerMillion' ? money(value, currency) : count(value);
}
