// Glossaries of teams, invisible to every other team. A glossary names dictionaries, whose entries are immutable once written.
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
  /** The team already has as many glossaries as its record allows. Exact under concurrent creation. */
  | { readonly kind: 'limit_reached'; readonly maxGlossaries: number }
  | BytesReached
  | { readonly kind: 'team_unknown' };

/** All entries of the team together would exceed `teamBytesMax` bytes; exact under concurrent changes. Nothing was changed. */
export interface BytesReached {
  readonly kind: 'bytes_reached';
  readonly maxGlossaries: number;
}

/** The next content of a glossary, derived from the record that was read. Rejected if the glossary has changed since. */
export interface GlossaryChange extends Pick<NewGlossary, 'glossaryId' | 'teamId' | 'name'> {
  /** Of the record it was derived from. */
  readonly revision: number;
  /** Everything the glossary holds from now on: existing dictionaries of that record, and new ones with their entries. */
  readonly dictionaries: readonly (DictionaryRecord | NewDictionary)[];
}

export type GlossaryChanged =
  | { readonly kind: 'changed'; readonly glossary: GlossaryRecord }
  /** The revision has changed: read the glossary again. Nothing was changed. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'missing' }
  | BytesReached;

/**
 * Returns `undefined` if the team has no glossary with the id, even if another team has. Ids are canonical ULIDs. If a change
 * returns `unavailable`, it may or may not have been made. `teamBytesMax` limits the UTF-8 bytes of all the team's terms and
 * translations, including the change; a change that does not increase them is never rejected. Without it there is no limit.
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
  /** Whether there was one to remove. Operators pass `by` for the audit; removals by callers are not audited. */
  remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable>;
}

/** Cached access to the dictionaries that a translation needs; cached ones are returned synchronously. */
export interface GlossaryCache {
  /**
   * The dictionary for `reference`, which an admission has just resolved to `dictionaryId`. If it has been replaced since, the
   * replacement; `undefined` if it is gone.
   */
  dictionary(
    teamId: string,
    reference: GlossaryReference,
    dictionaryId: string | undefined,
  ): EngineGlossary | undefined | StoreUnavailable | Promise<EngineGlossary | undefined | StoreUnavailable>;
  /** Several dictionaries of a team merged into one: the first that has a term wins. `undefined` if one is gone. */
  merged(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
}
