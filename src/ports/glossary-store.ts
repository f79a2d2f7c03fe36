// Glossaries of teams, invisible to every other team. A glossary names dictionaries, whose entries
// are immutable once written.
import type { Audited } from '../domain/audit-entry.ts';
import type { GlossaryReference } from '../domain/slots.ts';
import type { EntryPieces, WrittenEntries } from '../domain/entries-text.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';

export type GlossaryEntries = Readonly<Record<string, string>>;

/** A dictionary for one language pair. Changing it replaces it by another with a new id. */
export interface DictionaryRecord {
  /** ULID; equal to the glossary's id if it was created as its only dictionary. */
  readonly dictionaryId: string;
  /** Canonical codes; a glossary has at most one dictionary per pair. */
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entryCount: number;
}

export interface NewDictionary extends Omit<DictionaryRecord, 'entryCount'> {
  readonly entries: GlossaryEntries;
  /** The same entries, already serialized; `entries` is then not read. */
  readonly written?: WrittenEntries;
}

export interface NewGlossary {
  /** ULID. */
  readonly glossaryId: string;
  readonly teamId: string;
  readonly name: string;
  /** In display order. */
  readonly dictionaries: readonly NewDictionary[];
}

export interface GlossaryRecord extends Pick<NewGlossary, 'glossaryId' | 'name'> {
  /** Starts at 1 and increases with every change. */
  readonly revision: number;
  readonly dictionaries: readonly DictionaryRecord[];
  /** By the store's clock. */
  readonly createdAtMs: number;
}

/** Wrapped, because a term may be `kind`, which discriminates `unavailable`. */
export interface FoundEntries {
  /** Large dictionaries are built in one go on first access; prefer `pieces`. */
  readonly entries: GlossaryEntries;
  /** The same entries as JSON, in pieces of whole entries. Optional for stores. */
  readonly pieces?: EntryPieces;
}

export type GlossaryCreation =
  | { readonly kind: 'created'; readonly glossary: GlossaryRecord }
  /** The team has as many as its record allows. Exact under concurrent creation. */
  | { readonly kind: 'limit_reached'; readonly maxGlossaries: number }
  | BytesReached
  | { readonly kind: 'team_unknown' };

/** All its entries would exceed `teamBytesMax`; exact. Nothing was changed. */
export interface BytesReached {
  readonly kind: 'bytes_reached';
  readonly maxGlossaries: number;
}

/** The next content, made of the record that was read. Rejected if it has changed since. */
export interface GlossaryChange extends Pick<NewGlossary, 'glossaryId' | 'teamId' | 'name'> {
  /** Of the record it was derived from. */
  readonly revision: number;
  /** All that it holds from now on: existing dictionaries, and new ones with their entries. */
  readonly dictionaries: readonly (DictionaryRecord | NewDictionary)[];
}

export type GlossaryChanged =
  | { readonly kind: 'changed'; readonly glossary: GlossaryRecord }
  /** The revision has changed: read the glossary again. Nothing was changed. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'missing' }
  | BytesReached;

/**
 * `undefined` for an id of no glossary of this team. After `unavailable` a change may have been
 * made. `teamBytesMax`: UTF-8 bytes of all terms, unless a change adds none.
 */
export interface GlossaryStore {
  create(glossary: NewGlossary, teamBytesMax?: number): Promise<GlossaryCreation | StoreUnavailable>;
  /** In order of creation. */
  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable>;
  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable>;
  /** Entries of a dictionary that one of the team's glossaries currently holds. */
  entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable>;
  /** All or nothing; dictionaries that are no longer listed are deleted. */
  change(change: GlossaryChange, teamBytesMax?: number): Promise<GlossaryChanged | StoreUnavailable>;
  /** For operators: the team that owns a glossary. May scan all teams. */
  ownerOf(glossaryId: string): Promise<string | undefined | StoreUnavailable>;
  /** Whether there was one. Operators pass `by` for the audit, which has no callers. */
  remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable>;
}

/** The dictionaries that a translation needs; cached ones are returned synchronously. */
export interface GlossaryCache {
  /**
   * The dictionary for `reference`, just resolved to `dictionaryId`, or its replacement since;
   * `undefined` if it is gone.
   */
  dictionary(
    teamId: string,
    reference: GlossaryReference,
    dictionaryId: string | undefined,
  ): EngineGlossary | undefined | StoreUnavailable | Promise<EngineGlossary | undefined | StoreUnavailable>;
  /** Several dictionaries as one: the first with a term wins. `undefined` if one is gone. */
  merged(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
}
