// The record space: where a store keeps everything that no admission writes, so that each subject is written once, over this port.
import type { KeyDigest } from '../domain/api-key.ts';
import type { Audited, AuditDifference } from '../domain/audit-entry.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EventFacts } from './outbox.ts';
import type { KeyRecord } from './team-registry.ts';

/**
 * A record is a text with a name: a table and an id, which is unique in its table and group. The records of a team are a group,
 * which begins and ends with its account in the ledger: before and after that, and from the moment its deletion begins, it has no
 * records and takes none. Those of no team are the group `SHARED_RECORDS`, which
 * always exists, and has neither blobs nor an audit. Tables need not be declared.
 * Admissions read some tables, for which a store's own format may differ.
 */
export interface RecordName {
  readonly table: RecordTable;
  readonly id: string;
}

/** Every table, with what it has. A store erases, checks and copies all of them. */
export type RecordTable =
  /** A team's glossaries (stores/records/record-glossaries.ts). */
  | 'glossaries'
  /** By glossary: its language pairs and their dictionaries, as admissions read them. */
  | 'pairs'
  /** By table: sums over its records, so that a limit on them costs no reading of all. */
  | 'totals'
  /** By date: how many requests were refused, by code (stores/records/record-refusals.ts). */
  | 'refusals'
  /** By tag, what was charged on the newest day on which anything was (`TagCount`). Commits write it, by the rules of `countTag`. */
  | 'tag_counts'
  /** By tag, a list of the days before; a day that was counted again is in it more than once. */
  | 'tag_days'
  /** By tag, its settings as JSON (ledger/tag-account.ts). Admissions read it. */
  | 'tag_limits'
  /** By tag with settings, what is used of them as JSON, which admissions and settlements write. The rules are those of `TagUses`. */
  | 'tag_uses'
  /** Documents of a team; shared: their queue, and the bytes of all (stores/records/record-documents.ts). */
  | 'documents'
  /** Shared: what gateways say about themselves (stores/records/ending-records.ts). */
  | 'gateways'
  /** Shared: what engines with a limit have used (stores/records/record-engine-use.ts). */
  | 'engines'
  /** Shared: the latest time that the store has seen (stores/records/store-clock.ts). */
  | 'clock'
  /** Shared: the secrets of all processes, by name (stores/records/ending-records.ts). */
  | 'secrets'
  /** Shared: attempts to sign in to the console that have been used (stores/records/ending-records.ts). */
  | 'sign_ins'
  /** Shared, but not in Redis: events (stores/records/event-record.ts), and who sends them. */
  | 'events'
  | 'senders'
  /** Shared, of a plugin's store: by team what was reported (stores/records/usage-events.ts). */
  | 'reported'
  /** Shared: entries of the audit, by id (stores/records/record-audit.ts). */
  | 'audit'
  /** Shared, of a plugin's store: that a copy into it is not complete (stores/whole-store.ts). */
  | 'copies'
  /** Shared: requests that take effect once, and who runs them (stores/records/record-idempotency.ts). */
  | 'requests'
  | 'claims';

/** Every index: a table of ids without values, which are in order. */
export type RecordIndex =
  /** Shared: when each request is forgotten. */
  | 'requests_by_end'
  /** Shared: when each document is due; all of them, newest first; those that have not ended, oldest first. */
  | 'documents_by_due'
  | 'documents_by_age'
  | 'documents_open'
  /** Shared: entries of the audit, newest first; and those that concern a team. */
  | 'audit_by_time'
  | 'audit_by_team'
  /** Shared: when each event is due. */
  | 'events_by_due';

/** Its id is ASCII text; ids are ordered by their bytes. */
export interface IndexEntry {
  readonly index: RecordIndex;
  readonly id: string;
}

/** The first ids of an index, at most `limit`, that are not less than `from` and less than `below`. */
export interface IndexPage {
  readonly index: RecordIndex;
  readonly from: string;
  readonly below: string;
  readonly limit: number;
}

export interface StoredRecord extends RecordName {
  readonly value: string;
}

/** What the ledger knows of a group, as a change finds it. */
export interface GroupHead {
  /** By the store's clock. */
  readonly nowMs: number;
  /** `undefined` for the shared records. */
  readonly limits: TeamLimits | undefined;
  /** The team's; `undefined` for the shared records. */
  readonly period: GroupPeriod | undefined;
  /** The key that the change names, if the team has it. */
  readonly key?: KeyRecord | undefined;
}

/** The key that a change names as it becomes, but for its last use. What its open reservations hold counts for its limits. */
export interface KeyWrite {
  readonly record: KeyRecord;
  /** Of a new key. */
  readonly digest?: KeyDigest;
}

/** The current period, even if it has ended: the next operation begins the one that contains the moment. */
export interface GroupPeriod {
  /** Each period of a team has the next one (`PeriodUse`). */
  readonly number: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** A text too large for a record: pieces that are written before a record refers to them, and never changed. */
export interface NewBlob {
  /** A fresh ULID, unique in its group; nobody else knows it until a record names it. */
  readonly blobId: string;
  /** Each at most 128 KiB. */
  readonly pieces: EntryPieces;
}

/**
 * An event that an operation causes. What can happen again is `numbered`: the store adds to its id when it happened and the team's next
 * number (`eventIds.numbered`).
 */
export interface NewEvent {
  readonly id: string;
  readonly numbered?: true;
  readonly facts: EventFacts;
}

/** What a change writes, all of it or nothing; removals come first. */
export interface GroupChange<Result> {
  /** Returned to the caller once everything else is written. */
  readonly result: Result;
  readonly put?: readonly StoredRecord[];
  readonly remove?: readonly RecordName[];
  readonly index?: readonly IndexEntry[];
  readonly unindex?: readonly IndexEntry[];
  /** Blobs that stay from now on: the large ones must have been passed to `prepare` within the last minute. */
  readonly attach?: readonly NewBlob[];
  /** Ids of attached blobs that are deleted, at once or soon. */
  readonly detach?: readonly string[];
  readonly key?: KeyWrite;
  /** An audit entry of the group, and of the key that the change names, in the same operation. */
  readonly audit?: { readonly by: Audited } & AuditDifference;
  /** About the team, stored in the outbox in the same operation if events are stored (ports/outbox.ts). */
  readonly event?: NewEvent;
}

/** Decides from the values of the named records. Called again if one of them has changed meanwhile: it must have no effects. */
export type DecideChange<Result> = (values: readonly (string | undefined)[], group: GroupHead) => GroupChange<Result>;

/**
 * Every method returns `unavailable` if the store does not answer; a change may then have been made or not. A change is visible
 * to every other process as soon as it has returned. None may hold up admissions: work is cut into pieces of a few milliseconds.
 *
 * A change reads the named records, decides, and writes, as if nothing else happened to the group in between: everything that the
 * decision depends on must be named. Concurrent changes of a group are made one after the other, in about the order of their
 * calls, so that none starves. A decision that writes nothing is a consistent read. A change that removes records and attaches
 * nothing, or that changes a key, is made by a full store as well.
 */
export interface RecordSpace {
  /** The values in order of the names; `undefined` for records that do not exist, and all of them if there is no such group. */
  read(group: string, names: readonly RecordName[]): Promise<readonly (string | undefined)[] | StoreUnavailable>;
  /** A group's whole table by id, in any order. */
  list(group: string, table: RecordTable): Promise<ReadonlyMap<string, string> | StoreUnavailable>;
  /** A part of a group's index, in order. */
  page(group: string, page: IndexPage): Promise<readonly string[] | StoreUnavailable>;
  /** `undefined` if there is no such group. `keyId` names the key that the decision sees, and may write. */
  change<Result>(
    group: string,
    names: readonly RecordName[],
    decide: DecideChange<Result>,
    keyId?: string,
  ): Promise<Result | undefined | StoreUnavailable>;
  /** The team of a key. */
  teamOf(keyId: string): Promise<string | undefined | StoreUnavailable>;
  /** The group that has a record with this name. May look at all groups; for operators. */
  groupOf(name: RecordName): Promise<string | undefined | StoreUnavailable>;
  /**
   * Writes large blobs (`isLarge`) piece by piece, not on the connection that admissions use; small ones are written by the
   * change that attaches them. What no change attaches within a minute disappears.
   */
  prepare(group: string, blobs: readonly NewBlob[]): Promise<StoreUnavailable | undefined>;
  /** Lets prepared blobs that will not be attached disappear sooner. If that fails, they disappear in time. */
  abandon(group: string, blobs: readonly NewBlob[]): Promise<void>;
  /** The pieces of an attached blob, read one by one as `prepare` writes them; `undefined` if there is none. */
  readBlob(group: string, blobId: string): Promise<EntryPieces | undefined | StoreUnavailable>;
}
