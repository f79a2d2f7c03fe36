// Glossaries of teams, invisible to every other team: names for dictionaries, whose entries never change once they are written.
import type { Audited } from '../domain/audit-entry.ts';
import type { GlossaryReference } from '../domain/charge.ts';
import type { EntryPieces, WrittenEntries } from '../domain/entries-text.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { EngineGlossary } from '../domain/translation-options.ts';

export type GlossaryEntries = Readonly<Record<string, string>>;

/** Of one pair of languages. What changes a dictionary puts another one, with an id of its own, in its place. */
export interface DictionaryRecord {
  /** ULID; the glossary's own where it is the only one that it was created with. */
  readonly dictionaryId: string;
  /** Canonical codes; a glossary holds each pair once. */
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entryCount: number;
}

export interface NewDictionary extends Omit<DictionaryRecord, 'entryCount'> {
  readonly entries: GlossaryEntries;
  /** The same, written already; then `entries` is not read. */
  readonly written?: WrittenEntries;
}

export interface NewGlossary {
  /** ULID. */
  readonly glossaryId: string;
  readonly teamId: string;
  readonly name: string;
  /** In the order in which they are shown. */
  readonly dictionaries: readonly NewDictionary[];
}

export interface GlossaryRecord extends Pick<NewGlossary, 'glossaryId' | 'name'> {
  /** 1 when it is created, and one more with every change. */
  readonly revision: number;
  readonly dictionaries: readonly DictionaryRecord[];
  /** By the store's clock. */
  readonly createdAtMs: number;
}

/** Entries are wrapped: a term may be `kind`, which marks `unavailable`. */
export interface FoundEntries {
  /** Of a large dictionary, made when it is first asked for, in one go: who can should go by `pieces`. */
  readonly entries: GlossaryEntries;
  /** The same as JSON, in pieces of whole entries. A store may leave it out. */
  readonly pieces?: EntryPieces;
}

export type GlossaryCreation =
  | { readonly kind: 'created'; readonly glossary: GlossaryRecord }
  /** The team has as many as its record allows, whatever they hold; exact under concurrent creation. */
  | { readonly kind: 'limit_reached'; readonly maxGlossaries: number }
  | BytesReached
  | { readonly kind: 'team_unknown' };

/** All entries of the team would have more than `teamBytesMax` bytes; exact under concurrent changes. Nothing was changed. */
export interface BytesReached {
  readonly kind: 'bytes_reached';
  readonly maxGlossaries: number;
}

/** A glossary's next content, made from the record that was read. Refused if the glossary was changed since. */
export interface GlossaryChange extends Pick<NewGlossary, 'glossaryId' | 'teamId' | 'name'> {
  /** Of the record that was read. */
  readonly revision: number;
  /** All that it holds from now on: dictionaries of that record as they are, and new ones with their entries. */
  readonly dictionaries: readonly (DictionaryRecord | NewDictionary)[];
}

export type GlossaryChanged =
  | { readonly kind: 'changed'; readonly glossary: GlossaryRecord }
  /** It has another revision: read it again. Nothing was changed. */
  | { readonly kind: 'outdated' }
  | { readonly kind: 'missing' }
  | BytesReached;

/**
 * Where a team has no glossary of an id, `undefined` is answered, whoever else may have one. Ids are canonical ULIDs.
 * `unavailable` to a change leaves open whether it was made. `teamBytesMax` bounds the UTF-8 bytes of all terms and translations
 * of the team, those of the change included; one that makes them no more is never refused. Without it there is no limit.
 */
export interface GlossaryStore {
  create(glossary: NewGlossary, teamBytesMax?: number): Promise<GlossaryCreation | StoreUnavailable>;
  /** In order of creation. */
  list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable>;
  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable>;
  /** Of a dictionary that one of the team's glossaries holds at this moment. */
  entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable>;
  /** All of it or nothing; dictionaries that it no longer names are gone. */
  change(change: GlossaryChange, teamBytesMax?: number): Promise<GlossaryChanged | StoreUnavailable>;
  /** The team that has a glossary, for operators: it may take a look at every team. Left out by stores that cannot tell. */
  ownerOf?(glossaryId: string): Promise<string | undefined | StoreUnavailable>;
  /** Whether there was one to remove. Operators say who they are, for the audit; callers' own removals are not in it. */
  remove(teamId: string, glossaryId: string, by?: Audited): Promise<boolean | StoreUnavailable>;
}

/** What a translation needs of the glossaries, with a cache in front: what is cached is answered at once. */
export interface GlossaryCache {
  /**
   * The dictionary that serves `reference`, which an admission has just found under `dictionaryId`. If another has taken
   * its place since, that one, whole; `undefined` if none has.
   */
  dictionary(
    teamId: string,
    reference: GlossaryReference,
    dictionaryId: string | undefined,
  ): EngineGlossary | undefined | StoreUnavailable | Promise<EngineGlossary | undefined | StoreUnavailable>;
  /** Several dictionaries of a team as one: the first of them that has a term decides. `undefined` where one is gone. */
  merged(teamId: string, dictionaryIds: readonly string[]): Promise<EngineGlossary | undefined | StoreUnavailable>;
}
