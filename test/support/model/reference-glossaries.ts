// The glossary store of the reference model: each team's glossaries in an array.
import type { Clock } from '../../../src/ports/clock.ts';
import type { DictionaryRecord, GlossaryRecord, GlossaryStore, NewDictionary, NewGlossary } from '../../../src/ports/glossary-store.ts';
import type { ReferenceAccount } from './reference-account.ts';

export interface ReferenceGlossary extends NewGlossary {
  readonly revision: number;
  readonly createdAtMs: number;
}

export function referenceGlossaries(account: (teamId: string) => ReferenceAccount | undefined, clock: Clock): GlossaryStore {
  const all = (teamId: string): readonly ReferenceGlossary[] => account(teamId)?.glossaries ?? [];
  const one = (teamId: string, glossaryId: string) => all(teamId).find((glossary) => glossary.glossaryId === glossaryId);
  const dictionaries = (teamId: string): readonly NewDictionary[] => all(teamId).flatMap((glossary) => glossary.dictionaries);
  return {
    async create(glossary, teamBytesMax = Infinity) {
      const owner = account(glossary.teamId);
      if (owner === undefined) return { kind: 'team_unknown' };
      const { maxGlossaries } = owner.team.limits;
      if (owner.glossaries.length >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
      if (bytesOf(all(glossary.teamId)) + bytesOf([glossary]) > teamBytesMax) return { kind: 'bytes_reached', maxGlossaries };
      const created = { ...glossary, revision: 1, createdAtMs: clock.nowMs() };
      owner.glossaries = [...owner.glossaries, created];
      return { kind: 'created', glossary: recordOf(created) };
    },
    list: async (teamId) => all(teamId).map(recordOf),
    async find(teamId, glossaryId) {
      const found = one(teamId, glossaryId);
      return found === undefined ? undefined : recordOf(found);
    },
    async entries(teamId, dictionaryId) {
      const found = dictionaries(teamId).find((known) => known.dictionaryId === dictionaryId);
      return found === undefined ? undefined : { entries: found.entries };
    },
    async change(change, teamBytesMax = Infinity) {
      const [owner, found] = [account(change.teamId), one(change.teamId, change.glossaryId)];
      if (owner === undefined || found === undefined) return { kind: 'missing' };
      if (found.revision !== change.revision) return { kind: 'outdated' };
      const held = change.dictionaries.map((next) => ('entries' in next ? next : kept(found, next)));
      const changed = { ...found, name: change.name, revision: found.revision + 1, dictionaries: held };
      const [before, after] = [bytesOf(owner.glossaries), bytesOf(owner.glossaries) - bytesOf([found]) + bytesOf([changed])];
      if (after > teamBytesMax && after > before) return { kind: 'bytes_reached', maxGlossaries: owner.team.limits.maxGlossaries };
      owner.glossaries = owner.glossaries.map((glossary) => (glossary === found ? changed : glossary));
      return { kind: 'changed', glossary: recordOf(changed) };
    },
    async remove(teamId, glossaryId) {
      const [owner, found] = [account(teamId), one(teamId, glossaryId)];
      if (owner === undefined || found === undefined) return false;
      owner.glossaries = owner.glossaries.filter((glossary) => glossary !== found);
      return true;
    },
  };
}

function bytesOf(glossaries: readonly Pick<ReferenceGlossary, 'dictionaries'>[]): number {
  const entries = glossaries.flatMap(({ dictionaries }) => dictionaries.flatMap((one) => Object.entries(one.entries)));
  return entries.reduce((sum, [term, translation]) => sum + Buffer.byteLength(term + translation), 0);
}

function kept(glossary: ReferenceGlossary, { dictionaryId }: DictionaryRecord): NewDictionary {
  const dictionary = glossary.dictionaries.find((one) => one.dictionaryId === dictionaryId);
  if (dictionary === undefined) throw new Error(`a change keeps dictionary ${dictionaryId}, which was not there`);
  return dictionary;
}

function recordOf({ glossaryId, name, revision, dictionaries, createdAtMs }: ReferenceGlossary): GlossaryRecord {
  const records = dictionaries.map(({ entries, ...named }) => ({ ...named, entryCount: Object.keys(entries).length }));
  return { glossaryId, name, revision, dictionaries: records, createdAtMs };
}
