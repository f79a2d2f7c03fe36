// Glossaries in Redis: created and removed by one script each in the team's slot, read by plain commands.
import type { GlossaryCreation, GlossaryEntries, GlossaryRecord, GlossaryStore, NewGlossary } from '../../ports/glossary-store.ts';
import { answerOrStoreError, valuesOrStoreError } from './or-store-error.ts';
import type { ScriptValues } from './or-store-error.ts';
import { entriesKey, glossaryPair, teamKeys } from './redis-keys.ts';
import type { RedisLink } from './redis-link.ts';
import type { ScriptCall } from './script-caller.ts';

export class RedisGlossaryStore implements GlossaryStore {
  readonly #link: RedisLink;

  constructor(link: RedisLink) {
    this.#link = link;
  }

  async create({ glossaryId, teamId, name, sourceLang, targetLang, entries }: NewGlossary): Promise<GlossaryCreation> {
    const entryCount = Object.keys(entries).length;
    const json = JSON.stringify({ name, sourceLang, targetLang, entryCount });
    const args = [glossaryPair(sourceLang, targetLang), json, JSON.stringify(entries)];
    const { word, values } = await this.#script('create_glossary', teamId, glossaryId, args);
    const value = String(values[0]);
    if (word === 'none') return { kind: 'team_unknown' };
    if (word === 'limit') return { kind: 'limit_reached', maxGlossaries: Number(value) };
    return { kind: 'created', glossary: readGlossary(glossaryId, value).glossary };
  }

  async list(teamId: string): Promise<readonly GlossaryRecord[]> {
    const records = await answerOrStoreError(this.#link, ({ redis }) => redis.hgetall(teamKeys(teamId).glossaries));
    return Object.entries(records)
      .map(([glossaryId, record]) => readGlossary(glossaryId, record))
      .toSorted((a, b) => a.order - b.order)
      .map(({ glossary }) => glossary);
  }

  async find(teamId: string, glossaryId: string): Promise<GlossaryRecord | undefined> {
    const record = await answerOrStoreError(this.#link, ({ redis }) => redis.hget(teamKeys(teamId).glossaries, glossaryId));
    return record === null ? undefined : readGlossary(glossaryId, record).glossary;
  }

  async entries(teamId: string, glossaryId: string): Promise<GlossaryEntries | undefined> {
    const json = await answerOrStoreError(this.#link, ({ redis }) => redis.get(entriesKey(teamId, glossaryId)));
    return json === null ? undefined : (JSON.parse(json) as GlossaryEntries);
  }

  async remove(teamId: string, glossaryId: string): Promise<boolean> {
    const { word } = await this.#script('remove_glossary', teamId, glossaryId, []);
    return word === 'removed';
  }

  #script(script: ScriptCall['script'], teamId: string, glossaryId: string, args: readonly string[]): Promise<ScriptValues> {
    const { team, glossaries, pairs } = teamKeys(teamId);
    const keys = [team, glossaries, pairs, entriesKey(teamId, glossaryId)];
    return valuesOrStoreError(this.#link, { script, teamId, keys, args: [glossaryId, ...args] });
  }
}

/** `record` is `<order> <created> <JSON>`. */
function readGlossary(glossaryId: string, record: string): { readonly order: number; readonly glossary: GlossaryRecord } {
  const [, order, createdAtMs, json = ''] = /^(\d+) (\d+) (.*)$/s.exec(record) ?? [];
  const named = JSON.parse(json) as Pick<GlossaryRecord, 'name' | 'sourceLang' | 'targetLang' | 'entryCount'>;
  return { order: Number(order), glossary: { glossaryId, ...named, createdAtMs: Number(createdAtMs) } };
}
