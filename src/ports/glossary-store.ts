// Glossaries of teams: never changed once created, invisible to every other team.
export type GlossaryEntries = Readonly<Record<string, string>>;

export interface NewGlossary {
  /** ULID. */
  readonly glossaryId: string;
  readonly teamId: string;
  readonly name: string;
  /** Canonical codes. */
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entries: GlossaryEntries;
}

export interface GlossaryRecord extends Omit<NewGlossary, 'entries' | 'teamId'> {
  readonly entryCount: number;
  /** By the store's clock. */
  readonly createdAtMs: number;
}

export type GlossaryCreation =
  | { readonly kind: 'created'; readonly glossary: GlossaryRecord }
  /** The team has as many as its record allows; exact under concurrent creation. */
  | { readonly kind: 'limit_reached'; readonly maxGlossaries: number }
  | { readonly kind: 'team_unknown' };

/**
 * Where a team has no glossary of an id, `undefined` is answered, whoever else may have one. Ids are canonical ULIDs.
 * Methods reject with a `StoreError` when the store cannot be reached.
 */
export interface GlossaryStore {
  create(glossary: NewGlossary): Promise<GlossaryCreation>;
  /** In order of creation. */
  list(teamId: string): Promise<readonly GlossaryRecord[]>;
  find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined>;
  entries(teamId: string, glossaryId: string): Promise<GlossaryEntries | undefined>;
  /** Whether there was one to remove. */
  remove(teamId: string, glossaryId: string): Promise<boolean>;
}

/** What a translation needs of the glossaries, with a cache in front: what is cached is answered at once. */
export interface GlossaryCache {
  /** As the store's; for a glossary that an admission has just found. */
  entries(teamId: string, glossaryId: string): GlossaryEntries | undefined | Promise<GlossaryEntries | undefined>;
}
