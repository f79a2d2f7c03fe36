// What counts as an event about use, the percents of a quota and the balances whose passing is told; and the ids of all events.
import { MICRO_PER_MINOR } from './money.ts';
import type { Micro } from './money.ts';

export interface EventRules {
  /** Of a period's included characters; rising. */
  readonly percents: readonly number[];
  /** Whole minor units; falling. */
  readonly creditMinor: readonly number[];
}

/** Nothing to tell of use. */
export const NO_THRESHOLDS: EventRules = { percents: [], creditMinor: [] };

/** How long what a gateway left of its rules is followed by processes that have none of their own. */
export const RULES_FOLLOWED_MS = 86_400_000;

export function eventRules(percents: readonly number[], creditMinor: readonly number[]): EventRules {
  return { percents: percents.toSorted((a, b) => a - b), creditMinor: creditMinor.toSorted((a, b) => b - a) };
}

/** The first count of characters that is so many percent of the limit. */
export function charactersAt(percent: number, limit: number): number {
  return Math.ceil((percent * limit) / 100);
}

/** The least balance that is above the threshold: balances are shown in whole minor units, rounded down. */
export function microAbove(thresholdMinor: number): Micro {
  return (thresholdMinor + 1) * MICRO_PER_MINOR;
}

/** Percents of the limit that so many characters have reached, of those above the one that was told last. A limit of 0 has none. */
export function percentsReached({ percents }: EventRules, limit: number, told: number, characters: number): readonly number[] {
  if (limit === 0) return [];
  return percents.filter((percent) => percent > told && characters >= charactersAt(percent, limit));
}

/** From how many characters on `percentsReached` has one. */
export function nextCharacters({ percents }: EventRules, limit: number, told: number): number {
  const next = percents.find((percent) => percent > told);
  return next === undefined || limit === 0 ? Infinity : charactersAt(next, limit);
}

/** Thresholds that a balance has fallen to on its way from one value to another, the highest first. */
export function creditReached({ creditMinor }: EventRules, before: Micro, after: Micro): readonly number[] {
  return creditMinor.filter((minor) => before >= microAbove(minor) && after < microAbove(minor));
}

/** Ids of events: made of what they tell, so that one that is kept again, after a repetition or a failover, has the same. No dots: they divide what is signed. */
export const eventIds = {
  /** A period is named by its start, as what was copied to another store still has it. */
  quota: (teamId: string, periodStartMs: number, percent: number) => `${teamId}-quota-${periodStartMs}-${percent}`,
  /** A threshold can be passed again when the balance has been above it. */
  credit: (teamId: string, thresholdMinor: number, atMs: number) => `${teamId}-credit-${thresholdMinor}-${atMs}`,
  period: (teamId: string, periodStartMs: number) => `${teamId}-period-${periodStartMs}`,
  /** A day to which more was added, because the clock had stepped back, is another event. */
  day: (teamId: string, day: number, requests: number) => `${teamId}-day-${day}-${requests}`,
  /** One is made, revoked or deleted once. */
  once: (id: string, what: 'created' | 'revoked' | 'deleted') => `${id}-${what}`,
  /** Two changes in a millisecond are told as one. */
  updated: (id: string, atMs: number) => `${id}-updated-${atMs}`,
} as const;
