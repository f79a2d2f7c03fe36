// Everything a store holds, in store-independent terms: what is copied from one store to another, and what is checked.
import type { KeyDigest, KeyOwner } from '../domain/api-key.ts';
import type { AuditEntry, AuditRecord } from '../domain/audit-entry.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { Micro } from '../domain/money.ts';
import type { WantedFact } from '../domain/wanted-facts.ts';
import type { PeriodCredit } from '../domain/period-credit.ts';
import type { TeamLimits } from '../domain/plan.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { StoredCounts } from '../domain/window-limits.ts';
import type { WindowSubject, WindowTickets } from '../domain/window-limits.ts';
import type { DictionaryRecord, GlossaryRecord } from './glossary-store.ts';
import type { KeptEvent } from './outbox.ts';
import type { RecordIndex, RecordTable } from './record-space.ts';
import type { KeyRecord, Team } from './team-registry.ts';
import type { KeyDay, PeriodUse } from './usage-history.ts';

/** A snapshot of a team, without its unbounded data. */
export interface TeamContents {
  readonly team: Team;
  /** The current period, even if it has ended: the next operation begins the one that contains `now`. */
  readonly period: {
    readonly number: number;
    readonly startMs: number;
    readonly endMs: number;
    /** The anchor from which later periods are counted. */
    readonly anchorMs: number;
    /** Its balance is the team's. */
    readonly credit: PeriodCredit;
  };
  readonly usedCharacters: number;
  /** What the balances say is held; open reservations are among `requests`. */
  readonly heldCharacters: number;
  /** Of both, what is used and held of the allowance for test keys. */
  readonly allowanceUsed: number;
  readonly allowanceHeld: number;
  readonly heldMicro: Micro;
  /** Slots within the second before the newest one, oldest first. */
  readonly window: readonly { readonly atMs: number; readonly count: number }[];
  /** What subjects have used of their limits by minute to month, by subject; of those that have, or once had, such limits. */
  readonly windowCounts: readonly SubjectCounts[];
  /** In order of creation. */
  readonly keys: readonly KeyContents[];
  /** Charged characters and requests, by key and day. */
  readonly days: readonly KeyDay[];
  /** The last day for which the end-of-day work is done; 0 for none. */
  readonly dayDone: number;
  /** Past periods that are still kept, oldest first. */
  readonly periods: readonly PeriodContents[];
  /** The highest percentage for which an event was created, per period. */
  readonly toldPercents: readonly { readonly number: number; readonly percent: number }[];
  /** Refusals for a limit for which an event was created: the team's, then those of keys by their ids. */
  readonly toldRefusals: readonly ToldRefusal[];
  /** How many requests were refused, by date; records as the store has them (stores/records/record-refusals.ts). */
  readonly refusals: ReadonlyMap<string, string>;
  /** What was charged by tag and day, and tags with settings; records as the store has them (`RecordTable`), by table and tag. */
  readonly tags: TagContents;
  /** Request ids, sorted. */
  readonly requests: readonly RequestContents[];
  /** In order of creation. */
  readonly glossaries: readonly GlossaryContents[];
  /** The stored byte total of all dictionaries. */
  readonly glossaryBytes: number;
}

export type TagContents = Readonly<Record<'tag_counts' | 'tag_days' | 'tag_limits' | 'tag_uses', Readonly<Record<string, string>>>>;

export interface SubjectCounts {
  readonly subject: WindowSubject;
  readonly counts: StoredCounts;
}

/** Of a key's own limit if it has `keyId`. */
export type ToldRefusal =
  | {
      readonly code: 'quota_exceeded';
      readonly keyId?: string;
      /** Of the allowance for test keys. */
      readonly testKeys?: true;
      /** The last period in which one was told. */
      readonly number: number;
    }
  /** `number`: how many were told; `told`: whether one was since credit was last added. */
  | { readonly code: 'credit_exhausted'; readonly number: number; readonly told: boolean };

/** `status` ignores expiry, which is among the limits: an expired key is still `active` here. */
export interface KeyContents extends Omit<KeyRecord, 'teamId'> {
  /** If the store keeps it with the key; `LooseDigest` is authoritative. */
  readonly digest: KeyDigest | undefined;
  /** In the team's current period. */
  readonly characters: number;
  readonly requests: number;
  /**
   * What its open reservations hold in the team's current period, by the stored total; `undefined` if its characters are not
   * limited.
   */
  readonly heldCharacters: number | undefined;
  /** Slots within the second before the newest one, oldest first; empty if the key has no rate of its own. */
  readonly window: TeamContents['window'];
}

export interface PeriodContents extends PeriodUse {
  /** What each key was charged in it; `undefined` if that is not kept. */
  readonly keys: readonly { readonly keyId: string; readonly characters: number; readonly requests: number }[] | undefined;
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

export interface GlossaryContents extends Omit<GlossaryRecord, 'dictionaries'> {
  readonly dictionaries: readonly DictionaryContents[];
}

export interface DictionaryContents extends DictionaryRecord {
  /** UTF-8 length of all terms and translations. */
  readonly bytes: number;
}

/** Maps a digest to its key. Separate from teams and keys, because a store may index keys by digest only. */
interface LooseDigest extends Omit<KeyOwner, WantedFact> {
  readonly kind: 'digest';
  readonly digest: KeyDigest;
}

/** A change to a team that is remembered by its id. */
export interface LooseChange {
  readonly kind: 'change';
  readonly teamId: string;
  readonly id: string;
  readonly request: string;
  /** When it is forgotten. */
  readonly untilMs: number;
}

/** A shared record, or an entry of an index, whose value is empty. */
interface LooseRecord {
  readonly kind: 'record';
  readonly table: RecordTable | RecordIndex;
  readonly id: string;
  readonly value: string;
}

/** An audit entry, which outlives its team. */
interface LooseAudit {
  readonly kind: 'audit';
  readonly id: AuditEntry['id'];
  readonly teamId: string | undefined;
  readonly record: AuditRecord;
}

/** An event still to be sent. */
export interface LooseEvent {
  readonly kind: 'event';
  readonly event: KeptEvent;
  readonly dueMs: number;
  /** Number of failed deliveries. */
  readonly tries: number;
}

/** What the deletion of a team has kept: its days and periods, without names. */
export interface LooseUsage {
  readonly kind: 'usage';
  readonly teamId: string;
  readonly createdAtMs: number;
  /** The last ones. */
  readonly plan: string;
  readonly limits: TeamLimits;
  /** In order of creation. */
  readonly keys: readonly Pick<KeyContents, 'keyId' | 'mode' | 'createdAtMs'>[];
  readonly days: readonly KeyDay[];
  /** All closed, oldest first. */
  readonly periods: readonly Omit<PeriodContents, 'keys' | 'closed'>[];
}

/** Records that are read separately from the teams. */
export type LooseContents = LooseUsage | LooseDigest | LooseChange | LooseRecord | LooseAudit | LooseEvent;

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

export interface StoreReader {
  /** In order of creation. A team that cannot be read is reported and skipped. */
  teams(report: ReportFinding): AsyncIterable<TeamContents>;
  /** Reads one team again; `undefined` if it is gone. */
  team(teamId: string, report: ReportFinding): Promise<TeamContents | undefined>;
  /** The entries of a dictionary; `undefined` if it is gone. */
  entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined>;
  /** A table of a group of records, as it is. */
  records(group: string, table: RecordTable): Promise<ReadonlyMap<string, string>>;
  loose(report: ReportFinding): AsyncIterable<LooseContents>;
  /** The store's present time. */
  nowMs(): Promise<number>;
  /** Checks what is specific to this store: its indexes, its file. Anything suspicious is checked again after `settleMs`. */
  structure(report: ReportFinding, settleMs: number): Promise<void>;
  close(): Promise<void>;
}

/** An empty store that is marked as incomplete until `finish`. */
export interface StoreWriter {
  /** Called in order of creation, with the whole team and the entries of its dictionaries by id. */
  team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): Promise<void>;
  /** Called after all teams. */
  loose(record: LooseContents): Promise<void>;
  /** Reads what was written so far, for comparison. Must not be closed. */
  reader(): StoreReader;
  /** Marks the store as complete. */
  finish(): Promise<void>;
  close(): Promise<void>;
}
