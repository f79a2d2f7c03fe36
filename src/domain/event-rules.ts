// When usage causes an event: the reported percentages and balances. And the ids of all events.
import { createHash } from 'node:crypto';
import { MICRO_PER_MINOR } from './money.ts';
import type { Micro } from './money.ts';
import type { WindowName } from './window-limits.ts';

export interface EventRules {
  /** Percentages of a period's included characters, ascending. */
  readonly percents: readonly number[];
  /** Whole minor units, descending. */
  readonly creditMinor: readonly number[];
}

/** How long processes without rules of their own follow the rules stored by a gateway. */
export const RULES_FOLLOWED_MS = 86_400_000;

export function eventRules(percents: readonly number[], creditMinor: readonly number[]): EventRules {
  return { percents: percents.toSorted((a, b) => a - b), creditMinor: creditMinor.toSorted((a, b) => b - a) };
}

/** The smallest number of characters that reaches this percentage of the limit. */
export function charactersAt(percent: number, limit: number): number {
  return Math.ceil((percent * limit) / 100);
}

/** The smallest balance above it: balances are reported in whole minor units, rounded down. */
function microAbove(thresholdMinor: number): Micro {
  return (thresholdMinor + 1) * MICRO_PER_MINOR;
}

/** The percentages above the last reported that were reached. None for a limit of 0. */
export function percentsReached({ percents }: EventRules, limit: number, reported: number, characters: number): readonly number[] {
  if (limit === 0) return [];
  return percents.filter((percent) => percent > reported && characters >= charactersAt(percent, limit));
}

/** The thresholds that a balance crossed between two values, highest first. */
export function creditReached({ creditMinor }: EventRules, before: Micro, after: Micro): readonly number[] {
  return creditMinor.filter((minor) => before >= microAbove(minor) && after < microAbove(minor));
}

interface EventPeriod {
  readonly startMs: number;
  readonly number: number;
}

/**
 * What tells a change from all others of its team: a number that the store counts up, as clocks
 * step back, and the time, as a copy of the store counts from the beginning.
 */
interface EventChange {
  readonly atMs: number;
  readonly serial: number;
}

/**
 * Derived from content, so that an event keeps its id if it is stored again. No dots, which delimit
 * the signed content.
 */
export const eventIds = {
  /** A plan with another length may end a period at once: only its number identifies it. */
  quota: (teamId: string, period: EventPeriod, percent: number) => `${teamId}-quota-${period.startMs}-${period.number}-${percent}`,
  /** To be numbered: a threshold can be crossed again after the balance has risen above it. */
  credit: (teamId: string, thresholdMinor: number) => `${teamId}-credit-${thresholdMinor}`,
  /** The first in a period: `of` is the id of the team, or of the key with a limit of its own. */
  quotaLimit: (of: string, period: EventPeriod) => `${of}-limit-${period.startMs}-${period.number}`,
  /** In place of an id of a team or key: a tag may have dots. */
  ofTag: (teamId: string, tag: string) => `${teamId}-tag-${createHash('sha1').update(tag).digest('hex')}`,
  /** The same for the allowance of test keys. */
  testLimit: (teamId: string, { startMs, number }: EventPeriod) => `${teamId}-tests-limit-${startMs}-${number}`,
  /** The first refusal by a window of a team or a key: `of` is the one's or the other's id. */
  windowLimit: (of: string, per: WindowName, startMs: number) => `${of}-limit-${per}-${startMs}`,
  /** The team's `nth` first refusal for credit: again after credit was added. */
  creditLimit: (teamId: string, nth: number) => `${teamId}-limit-credit-${nth}`,
  /** A period that is closed again with other counts, after a failover, is a new event. */
  period: (teamId: string, { startMs, number, characters }: EventPeriod & { readonly characters: number }) =>
    `${teamId}-period-${startMs}-${number}-${characters}`,
  /** If the clock steps back, more can be added to a day already reported; that is a new event. */
  day: (teamId: string, day: number, requests: number) => `${teamId}-day-${day}-${requests}`,
  /** Each is created, revoked or deleted only once. */
  once: (id: string, what: 'created' | 'revoked' | 'deleted') => `${id}-${what}`,
  document: (documentId: string) => `${documentId}-done`,
  /** To be numbered. */
  updated: (id: string) => `${id}-updated`,
  numbered: (id: string, { atMs, serial }: EventChange) => `${id}-${atMs}-${serial}`,
} as const;
