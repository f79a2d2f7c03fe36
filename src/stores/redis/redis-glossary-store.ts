// Glossaries in Redis: created, changed and removed by one script each in the team's slot, read by plain commands.
import type {
  DictionaryRecord,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryEntries,
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import { heldBy, readRecord, recordJson } from './glossary-record.ts';
import { answerOrStoreError, valuesOrStoreError } from './or-store-error.ts';
import type { ScriptValues } from './or-store-error.ts';
import { entriesKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall } from './script-caller.ts';

export class RedisGlossaryStore implements GlossaryStore {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async create({ glossaryId, teamId, name, dictionaries }: NewGlossary): Promise<GlossaryCreation> {
    const args = [...recordWords(glossaryId, name, dictionaries), ...entriesOf(dictionaries)];
    const { word, values } = await this.#script('create_glossary', teamId, glossaryId, args);
    const value = String(values[0]);
    if (word === 'none') return { kind: 'team_unknown' };
    if (word === 'limit') return { kind: 'limit_reached', maxGlossaries: Number(value) };
    return { kind: 'created', glossary: readRecord(glossaryId, value).glossary };
  }

  async list(teamId: string): Promise<readonly GlossaryRecord[]> {
    const records = await answerOrStoreError(this.#link, ({ redis }) => redis.hgetall(teamKeys(teamId).glossaries));
    return Object.entries(records)
      .map(([glossaryId, record]) => readRecord(glossaryId, record))
      .toSorted((a, b) => a.order - b.order)
      .map(({ glossary }) => glossary);
  }

  async find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined> {
    const record = await answerOrStoreError(this.#link, ({ redis }) => redis.hget(teamKeys(teamId).glossaries, glossaryId));
    return record === null ? undefined : readRecord(glossaryId, record).glossary;
  }

  async entries(teamId: string, dictionaryId: string): Promise<GlossaryEntries | undefined> {
    const json = await answerOrStoreError(this.#link, ({ redis }) => redis.get(entriesKey(teamId, dictionaryId)));
    return json === null ? undefined : (JSON.parse(json) as GlossaryEntries);
  }

  async change({ glossaryId, teamId, name, revision, dictionaries }: GlossaryChange): Promise<GlossaryChanged> {
    const args = [String(revision), ...recordWords(glossaryId, name, dictionaries), ...entriesOf(dictionaries)];
    const { word, values } = await this.#script('change_glossary', teamId, glossaryId, args);
    if (word === 'none') return { kind: 'missing' };
    if (word === 'outdated') return { kind: 'outdated' };
    return { kind: 'changed', glossary: readRecord(glossaryId, String(values[0])).glossary };
  }

  async remove(teamId: string, glossaryId: string): Promise<boolean> {
    const { word } = await this.#script('remove_glossary', teamId, glossaryId, []);
    return word === 'removed';
  }

  #script(script: ScriptCall['script'], teamId: string, glossaryId: string, args: readonly string[]): Promise<ScriptValues> {
    const { team, glossaries, pairs } = teamKeys(teamId);
    return valuesOrStoreError(this.#link, { script, teamId, keys: [team, glossaries, pairs], args: [glossaryId, ...args] });
  }
}

function recordWords(glossaryId: string, name: string, dictionaries: GlossaryChange['dictionaries']): readonly string[] {
  return [heldBy(glossaryId, dictionaries), recordJson(glossaryId, name, dictionaries)];
}

/** How many are new, and of each of those its id and entries. */
function entriesOf(dictionaries: readonly (DictionaryRecord | NewDictionary)[]): readonly string[] {
  const written = dictionaries.filter((one) => 'entries' in one);
  return [String(written.length), ...written.flatMap(({ dictionaryId, entries }) => [dictionaryId, JSON.stringify(entries)])];
}
