// The accounts of a store, each as a whole: what checks and copies need besides the other ports.
import type { KeyDigest } from '../domain/api-key.ts';
import type { Micro } from '../domain/money.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { StoredCounts, WindowSubject, WindowTickets } from '../domain/window-limits.ts';
import type { NewBlob, StoredRecord } from './record-space.ts';
import type { KeyRecord, Standing, Team } from './team-registry.ts';
import type { ChargeRow, EndedPeriod, RunningPeriod } from './usage-history.ts';

/**
 * A team with all that its account has and with its records, at one moment. What follows from the rest (`standing`, what keys have
 * used and hold) is as the store knows it when it is read, and may be ignored when it is written. Slots of rate windows may be older than a second, and
 * periods may be without use.
 */
export interface WholeAccount {
  readonly team: Team;
  /**
   * The next operation begins the one that contains `now`. `undefined` if the team was deleted and only its usage is left: then there
   * are only keys, charges and periods.
   */
  readonly period: RunningPeriod | undefined;
  /** Past periods that are still stored, oldest first. */
  readonly ended: readonly EndedPeriod[];
  /** The balance before the first of these periods. */
  readonly openingMicro: Micro;
  /** In any order; one for each key, day and period. */
  readonly charges: readonly ChargeRow[];
  readonly standing: Standing;
  /** Oldest first. */
  readonly window: readonly WindowSlots[];
  /** What subjects have used of their limits by minute to month; of those that have, or once had, such limits. */
  readonly windowCounts: readonly SubjectCounts[];
  /** In order of creation. */
  readonly keys: readonly KeyContents[];
  /** Open reservations. */
  readonly requests: readonly RequestContents[];
  /** Changes that are remembered by their ids (`TeamChange.once`). */
  readonly changes: readonly { readonly id: string; readonly request: string; readonly untilMs: number }[];
  /** Of all tables. */
  readonly records: readonly StoredRecord[];
}

/** How many slots of a rate window were taken in a millisecond. */
export interface WindowSlots {
  readonly atMs: number;
  readonly count: number;
}

interface SubjectCounts {
  readonly subject: WindowSubject;
  readonly counts: StoredCounts;
}

/** `status` ignores expiry, which is among the limits: an expired key is still `active` here. */
export interface KeyContents extends Omit<KeyRecord, 'teamId'> {
  readonly digest: KeyDigest | undefined;
  /** In the team's current period, as the store counts them: what is written follows from the charges. */
  readonly characters: number;
  readonly requests: number;
  /** What its open reservations hold in the team's current period, by the stored total; `undefined` if its characters are not limited. */
  readonly heldCharacters: number | undefined;
  /** Oldest first; empty if the key has no rate of its own. */
  readonly window: readonly WindowSlots[];
}

/** An open reservation. */
export interface RequestContents {
  readonly requestId: string;
  /** The end of the lease. */
  readonly untilMs: number;
  readonly keyId: string;
  readonly characters: number;
  readonly priceMicro: Micro;
  readonly periodNumber: number;
  /** Whether it is of the allowance for test keys. */
  readonly ofAllowance: boolean;
  /** If it was counted in the windows of any subject. */
  readonly tickets?: WindowTickets | undefined;
  readonly tag?: RequestTag | undefined;
}

/** What is written in place of an account. */
interface AccountChange {
  readonly account: WholeAccount;
  /** The team's other blobs stay. */
  readonly attach?: readonly NewBlob[];
}

/**
 * A change reads an account, decides, and writes what was decided in its place, as if nothing else happened to the team in between.
 * The account is read as it is stored: what time alone does, such as the end of a period, is not done first.
 */
export interface WholeAccounts {
  /** A decision of `undefined` leaves everything as it is. A team that does not exist is created, behind all others. */
  change(teamId: string, decide: (account: WholeAccount | undefined) => AccountChange | undefined): Promise<StoreUnavailable | undefined>;
  /** Deletes all data: teams, shared records, audit. Called before a copy, of a store that is empty or an incomplete copy. */
  clear(): Promise<StoreUnavailable | undefined>;
}

/** A violated invariant. */
export interface StoreFinding {
  /** The kind of violation: a fixed word. */
  readonly what: string;
  readonly teamId?: string;
  readonly keyId?: string;
  /** One sentence, without secrets and without anything that callers wrote. */
  readonly detail: string;
}

export type ReportFinding = (finding: StoreFinding) => void;
