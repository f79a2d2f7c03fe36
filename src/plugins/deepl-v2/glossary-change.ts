// Changes glossaries without losing anyone's change: read, change, write back, and from the start if it was changed meanwhile.
import { dictionaryFor, isUnavailable, refuse, STORE_UNAVAILABLE } from 'lingate';
import type { DictionaryRecord, GlossaryChange, GlossaryRecord, GlossaryStore, LanguagePair, Refusal } from 'lingate';
import { CHANGING, NOT_FOUND } from './glossary-answer.ts';
import { DICTIONARIES_MAX } from './glossary-body.ts';
import type { DictionaryDraft } from './glossary-body.ts';
import { ENTRIES_MAX } from './glossary-entries.ts';
import { findGlossary } from './glossary-look.ts';

type Dictionaries = GlossaryChange['dictionaries'];
/** The glossary's next content, or a refusal; `undefined` when another has just changed it. */
type Next = Pick<GlossaryChange, 'name' | 'dictionaries'> | Refusal | undefined;

/** Entries to add, and a new name if there is one. */
export interface Additions {
  readonly name: string | undefined;
  readonly dictionaries: readonly DictionaryDraft[];
}

/** Tries against changes by other processes; within one process the changes of a glossary wait for each other. */
const TRIES_MAX = 20;

/** The dictionary of a pair, whatever the regions of its codes. */
export function heldFor(dictionaries: Dictionaries, pair: LanguagePair): DictionaryRecord | undefined {
  return dictionaryFor(dictionaries as readonly DictionaryRecord[], { ...pair, byBase: true });
}

export class GlossaryChanges {
  readonly #glossaries: GlossaryStore;
  readonly #newId: () => string;
  /** The last change of each glossary that is under way. */
  readonly #running = new Map<string, Promise<GlossaryRecord | Refusal>>();

  constructor(glossaries: GlossaryStore, newId: () => string) {
    this.#glossaries = glossaries;
    this.#newId = newId;
  }

  /** Adds entries to the dictionaries of their pairs, which are made where there are none; a term that is there is replaced. */
  merge(teamId: string, glossaryId: string, { name, dictionaries: drafts }: Additions): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async (record) => {
      let dictionaries: Dictionaries = record.dictionaries;
      for (const draft of drafts) {
        const held = heldFor(record.dictionaries, draft);
        const before = held === undefined ? { entries: {} } : await this.#glossaries.entries(teamId, held.dictionaryId);
        if (before === undefined) return undefined;
        if (isUnavailable(before)) return STORE_UNAVAILABLE;
        const entries = { ...before.entries, ...draft.entries };
        const count = Object.keys(entries).length;
        if (count > ENTRIES_MAX)
          return refuse('validation_error', `'entries': with those that are there, ${count} would be more than ${ENTRIES_MAX}.`);
        dictionaries = this.#with(dictionaries, { ...draft, entries });
      }
      return next(name ?? record.name, dictionaries);
    });
  }

  /** Puts a dictionary in the place of its pair's, or beside the others. */
  replace(teamId: string, glossaryId: string, draft: DictionaryDraft): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async (glossary) => next(glossary.name, this.#with(glossary.dictionaries, draft)));
  }

  /** Answers `none` if the glossary holds none of the pair. */
  drop(teamId: string, glossaryId: string, pair: LanguagePair, none: Refusal): Promise<GlossaryRecord | Refusal> {
    return this.#change(teamId, glossaryId, async ({ name, dictionaries }) => {
      const held = heldFor(dictionaries, pair);
      return held === undefined
        ? none
        : next(
            name,
            dictionaries.filter((one) => one !== held),
          );
    });
  }

  /** A dictionary that is replaced keeps its codes: in `/v1` their regions mean something. */
  #with(dictionaries: Dictionaries, { sourceLang, targetLang, entries }: DictionaryDraft): Dictionaries {
    const held = heldFor(dictionaries, { sourceLang, targetLang });
    const dictionary = { dictionaryId: this.#newId(), sourceLang, targetLang, entries };
    if (held === undefined) return [...dictionaries, dictionary];
    const replaced = { ...dictionary, sourceLang: held.sourceLang, targetLang: held.targetLang };
    return dictionaries.map((one) => (one === held ? replaced : one));
  }

  async #change(teamId: string, glossaryId: string, make: (record: GlossaryRecord) => Promise<Next>): Promise<GlossaryRecord | Refusal> {
    const key = `${teamId} ${glossaryId}`;
    const before = this.#running.get(key);
    const mine = before === undefined ? this.#try(teamId, glossaryId, make) : before.then(() => this.#try(teamId, glossaryId, make));
    this.#running.set(key, mine);
    try {
      return await mine;
    } finally {
      if (this.#running.get(key) === mine) this.#running.delete(key);
    }
  }

  async #try(teamId: string, glossaryId: string, make: (record: GlossaryRecord) => Promise<Next>): Promise<GlossaryRecord | Refusal> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const record = await findGlossary(this.#glossaries, teamId, glossaryId);
      if ('problem' in record) return record;
      const made = await make(record);
      if (made === undefined) continue;
      if ('problem' in made) return made;
      const changed = await this.#glossaries.change({ teamId, glossaryId, revision: record.revision, ...made });
      if (changed.kind === 'changed') return changed.glossary;
      if (changed.kind === 'missing') return NOT_FOUND;
      if (changed.kind === 'unavailable') return STORE_UNAVAILABLE;
    }
    return CHANGING;
  }
}

function next(name: string, dictionaries: Dictionaries): Next {
  if (dictionaries.length <= DICTIONARIES_MAX) return { name, dictionaries };
  return refuse('validation_error', `A glossary may hold at most ${DICTIONARIES_MAX} dictionaries.`);
}
