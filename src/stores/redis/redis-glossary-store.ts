// Glossaries in Redis: created, changed and removed by one script each in the team's slot, read by plain commands.
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type {
  DictionaryRecord,
  FoundEntries,
  GlossaryChange,
  GlossaryChanged,
  GlossaryCreation,
  GlossaryEntries,
  GlossaryRecord,
  GlossaryStore,
  NewDictionary,
  NewGlossary,
} from '../../ports/glossary-store.ts';
import { heldBy, readGlossaryRecord, recordJson } from './glossary-record.ts';
import { entriesKey, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall, ScriptReply } from './script-caller.ts';

export class RedisGlossaryStore implements GlossaryStore {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async create({ glossaryId, teamId, name, dictionaries }: NewGlossary): Promise<GlossaryCreation | StoreUnavailable> {
    const args = [...recordWords(glossaryId, name, dictionaries), ...entriesOf(dictionaries)];
    const reply = await this.#script('create_glossary', teamId, glossaryId, args);
    if (reply.kind === 'unavailable') return reply;
    const { word, values } = reply;
    const value = String(values[0]);
    if (word === 'none') return { kind: 'team_unknown' };
    if (word === 'limit') return { kind: 'limit_reached', maxGlossaries: Number(value) };
    return { kind: 'created', glossary: readGlossaryRecord(glossaryId, value).glossary };
  }

  async list(teamId: string): Promise<readonly GlossaryRecord[] | StoreUnavailable> {
    const records = await this.#link.ask(({ redis }) => redis.hgetall(teamKeys(teamId).glossaries));
    if (isUnavailable(records)) return records;
    return Object.entries(records)
      .map(([glossaryId, record]) => readGlossaryRecord(glossaryId, record))
      .toSorted((a, b) => a.order - b.order)
      .map(({ glossary }) => glossary);
  }

  async find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined | StoreUnavailable> {
    const record = await this.#link.ask(({ redis }) => redis.hget(teamKeys(teamId).glossaries, glossaryId));
    if (isUnavailable(record)) return record;
    return record === null ? undefined : readGlossaryRecord(glossaryId, record).glossary;
  }

  async entries(teamId: string, dictionaryId: string): Promise<FoundEntries | undefined | StoreUnavailable> {
    const json = await this.#link.ask(({ redis }) => redis.get(entriesKey(teamId, dictionaryId)));
    if (isUnavailable(json)) return json;
    return json === null ? undefined : { entries: JSON.parse(json) as GlossaryEntries };
  }

  async change({ glossaryId, teamId, name, revision, dictionaries }: GlossaryChange): Promise<GlossaryChanged | StoreUnavailable> {
    const args = [String(revision), ...recordWords(glossaryId, name, dictionaries), ...entriesOf(dictionaries)];
    const reply = await this.#script('change_glossary', teamId, glossaryId, args);
    if (reply.kind === 'unavailable') return reply;
    if (reply.word === 'none') return { kind: 'missing' };
    if (reply.word === 'outdated') return { kind: 'outdated' };
    return { kind: 'changed', glossary: readGlossaryRecord(glossaryId, String(reply.values[0])).glossary };
  }

  async remove(teamId: string, glossaryId: string): Promise<boolean | StoreUnavailable> {
    const reply = await this.#script('remove_glossary', teamId, glossaryId, []);
    return reply.kind === 'unavailable' ? reply : reply.word === 'removed';
  }

  #script(script: ScriptCall['script'], teamId: string, glossaryId: string, args: readonly string[]): Promise<ScriptReply> {
    const { team, glossaries, pairs } = teamKeys(teamId);
    return this.#link.call({ script, teamId, keys: [team, glossaries, pairs], args: [glossaryId, ...args] });
  }
}

function recordWords(glossaryId: string, name: string, dictionaries: GlossaryChange['dictionaries']): readonly string[] {
  return [heldBy(glossaryId, dictionaries), recordJson(glossaryId, name, dictionaries)];
}

/** Arguments for the script: how many dictionaries are new, then id and entries of each. */
function entriesOf(dictionaries: readonly (DictionaryRecord | NewDictionary)[]): readonly string[] {
  const written = dictionaries.filter((one) => 'entries' in one);
  return [String(written.length), ...written.flatMap(({ dictionaryId, entries }) => [dictionaryId, JSON.stringify(entries)])];
}
