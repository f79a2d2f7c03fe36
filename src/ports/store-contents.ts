// All that a store holds, in words that every store understands: what is copied from one to another, and what is checked.
import type { KeyDigest } from '../domain/api-key.ts';
import type { AuditEntry, AuditRecord } from '../domain/audit-entry.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { Micro } from '../domain/money.ts';
import type { DictionaryRecord, GlossaryRecord } from './glossary-store.ts';
import type { KeptEvent } from './outbox.ts';
import type { KeyRecord, Team } from './team-registry.ts';
import type { PeriodUse } from './usage-history.ts';

/** A team as it stood at one moment, all of it that has a bound. */
export interface TeamContents {
  readonly team: Team;
  /** The period that counts, whether it has ended or not: the next operation begins the one that holds. */
  readonly period: {
    readonly number: number;
    readonly startMs: number;
    readonly endMs: number;
    /** What the next ones are counted from. */
    readonly anchorMs: number;
  };
  readonly usedCharacters: number;
  /** What the books say is held; open reservations are among `requests`. */
  readonly heldCharacters: number;
  readonly heldMicro: Micro;
  /** Places of the second that the newest ended, oldest first. */
  readonly window: readonly { readonly atMs: number; readonly count: number }[];
  /** In order of creation. */
  readonly keys: readonly KeyContents[];
  /** Charged by day, by key and day. */
  readonly days: readonly DayContents[];
  /** The last day for which all is done that is done when a day is over; 0 for none. */
  readonly dayDone: number;
  /** Those that were left, as far as they are kept, oldest first. */
  readonly periods: readonly PeriodContents[];
  /** The highest percent of a period's characters that an event was made of, by periods, where there is one. */
  readonly toldPercents: readonly { readonly number: number; readonly percent: number }[];
  /** Ids of requests, in their order. */
  readonly requests: readonly RequestContents[];
  /** In order of creation. */
  readonly glossaries: readonly GlossaryContents[];
  /** The sum that is kept of the bytes of all dictionaries; `undefined` where there is none. */
  readonly glossaryBytes: number | undefined;
}

/** Its status is without the expiry, which is among its limits: `active` also where that is over. */
export interface KeyContents extends Omit<KeyRecord, 'teamId'> {
  /** Where the store has it beside the key; what counts is `LooseDigest`. */
  readonly digest: KeyDigest | undefined;
  /** Of the team's period. */
  readonly characters: number;
  readonly requests: number;
  /** What the books say its open reservations hold in the team's period; `undefined` where its characters are not limited. */
  readonly heldCharacters: number | undefined;
  /** The places of the second that the newest ended, oldest first; none where it has no rate of its own. */
  readonly window: TeamContents['window'];
}

export interface DayContents {
  readonly keyId: string;
  readonly day: number;
  readonly characters: number;
  readonly requests: number;
}

export interface PeriodContents extends Pick<PeriodUse, 'number' | 'startMs' | 'endMs' | 'closed'> {
  /** `undefined` for those that were left before it was noted. */
  readonly held: Pick<PeriodUse, 'plan' | 'limits'> | undefined;
  readonly characters: number;
  /** What of it each key was charged; `undefined` where that is not kept. */
  readonly keys: readonly { readonly keyId: string; readonly characters: number; readonly requests: number }[] | undefined;
}

export type RequestState = 'open' | 'committed' | 'released' | 'expired';

export interface RequestContents {
  readonly requestId: string;
  readonly state: RequestState;
  /** Open: the end of the lease. Otherwise: when the id is forgotten. */
  readonly untilMs: number;
  /** What is held, where it is open. */
  readonly keyId: string | undefined;
  readonly characters: number;
  readonly priceMicro: Micro;
  readonly periodNumber: number | undefined;
}

export interface GlossaryContents extends Omit<GlossaryRecord, 'dictionaries'> {
  readonly dictionaries: readonly DictionaryContents[];
}

export interface DictionaryContents extends DictionaryRecord {
  /** `undefined` where they were never counted. */
  readonly bytes: number | undefined;
}

/** Whose key this is. Apart from teams and keys, because a store may find it by the digest only. */
export interface LooseDigest {
  readonly kind: 'digest';
  readonly digest: KeyDigest;
  readonly keyId: string;
  readonly teamId: string;
  readonly mode: KeyRecord['mode'];
}

/** A change of a team that is remembered by its id. */
export interface LooseChange {
  readonly kind: 'change';
  readonly teamId: string;
  readonly id: string;
  readonly request: string;
  /** When it is forgotten. */
  readonly untilMs: number;
}

/** An entry of the audit, which outlives its team. */
export interface LooseAudit {
  readonly kind: 'audit';
  readonly id: AuditEntry['id'];
  readonly teamId: string | undefined;
  readonly record: AuditRecord;
}

/** An event that is still to be told. */
export interface LooseEvent {
  readonly kind: 'event';
  readonly event: KeptEvent;
  readonly dueMs: number;
  /** How often it was sent in vain. */
  readonly tries: number;
}

/** What is read apart from the teams. */
export type LooseContents = LooseDigest | LooseChange | LooseAudit | LooseEvent;

/** Something that must never be. */
export interface StoreFinding {
  /** What kind of thing is wrong: a fixed word. */
  readonly what: string;
  readonly teamId?: string;
  readonly keyId?: string;
  /** One sentence, without secrets and without what callers wrote. */
  readonly detail: string;
}

export type ReportFinding = (finding: StoreFinding) => void;

export interface StoreReader {
  /** In order of creation. A team that cannot be read is reported and left out. */
  teams(report: ReportFinding): AsyncIterable<TeamContents>;
  /** One of them once more; `undefined` when it is gone. */
  team(teamId: string, report: ReportFinding): Promise<TeamContents | undefined>;
  /** The entries of a dictionary; `undefined` when it is gone. */
  entries(teamId: string, dictionaryId: string): Promise<EntryPieces | undefined>;
  loose(report: ReportFinding): AsyncIterable<LooseContents>;
  /** Judges what is this store's alone: its indexes, its file. What looks wrong is looked at again after `settleMs`. */
  structure(report: ReportFinding, settleMs: number): Promise<void>;
  close(): Promise<void>;
}

/** A store that nothing is in, and that says it is half-written until `finish`. */
export interface StoreWriter {
  /** In order of creation; the whole team, with the entries of its dictionaries by their ids. */
  team(contents: TeamContents, entries: ReadonlyMap<string, EntryPieces>): Promise<void>;
  /** Behind all teams. */
  loose(record: LooseContents): Promise<void>;
  /** What was written so far, for comparing. Not to be closed. */
  reader(): StoreReader;
  /** From now on it is a store like any other. */
  finish(): Promise<void>;
  close(): Promise<void>;
}
