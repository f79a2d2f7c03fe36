// The accounts of a plugin's store, each as a whole: what checks, copies and repairs need besides the other ports.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { NewBlob, StoredRecord } from './record-space.ts';
import type { LooseChange, TeamContents } from './store-contents.ts';
import type { Standing } from './team-registry.ts';

/**
 * A team with all that its account has and with its records, at one moment. What follows from the rest (`standing`, what keys hold) is
 * as the store knows it when it is read, and may be ignored when it is written. Slots of rate windows may be older than a second, and
 * periods may be without use.
 */
export interface WholeAccount extends Pick<TeamContents, 'team' | 'window' | 'windowCounts' | 'keys' | 'days' | 'periods' | 'requests'> {
  /** The current one; `undefined` if the team was deleted and only its usage is kept: then there are only keys, days and periods. */
  readonly period: TeamContents['period'] | undefined;
  readonly standing: Standing;
  /** Changes that are remembered by their ids (`TeamChange.once`). */
  readonly changes: readonly Pick<LooseChange, 'id' | 'request' | 'untilMs'>[];
  /** Of all tables. */
  readonly records: readonly StoredRecord[];
}

/** What is written in place of an account. */
export interface AccountChange {
  readonly account: WholeAccount;
  /** The team's other blobs stay. */
  readonly attach?: readonly NewBlob[];
}

export interface WholeAccounts {
  /**
   * Reads an account, decides, and writes what was decided in its place, as if nothing else happened to the team in between;
   * `undefined` leaves everything as it is. The account is read as it is stored: what time alone does, such as the end of a period, is
   * not done first. A team that does not exist is created, behind all others.
   */
  change(teamId: string, decide: (account: WholeAccount | undefined) => AccountChange | undefined): Promise<StoreUnavailable | undefined>;
  /** Deletes all data: teams, shared records, audit. Called before a copy, of a store that is empty or an incomplete copy. */
  clear(): Promise<StoreUnavailable | undefined>;
}
