// The glossary store of the reference model: each team's glossaries in an array.
import type { Clock } from '../../../src/ports/clock.ts';
import type { GlossaryRecord, GlossaryStore, NewGlossary } from '../../../src/ports/glossary-store.ts';
import type { ReferenceAccount } from './reference-account.ts';

export interface ReferenceGlossary extends NewGlossary {
  readonly createdAtMs: number;
}

export function referenceGlossaries(account: (teamId: string) => ReferenceAccount | undefined, clock: Clock): GlossaryStore {
  const all = (teamId: string): readonly ReferenceGlossary[] => account(teamId)?.glossaries ?? [];
  const one = (teamId: string, glossaryId: string) => all(teamId).find((glossary) => glossary.glossaryId === glossaryId);
  return {
    async create(glossary) {
      const owner = account(glossary.teamId);
      if (owner === undefined) return { kind: 'team_unknown' };
      const { maxGlossaries } = owner.team.limits;
      if (owner.glossaries.length >= maxGlossaries) return { kind: 'limit_reached', maxGlossaries };
      const created = { ...glossary, createdAtMs: clock.nowMs() };
      owner.glossaries = [...owner.glossaries, created];
      return { kind: 'created', glossary: recordOf(created) };
    },
    list: async (teamId) => all(teamId).map(recordOf),
    async find(teamId, glossaryId) {
      const found = one(teamId, glossaryId);
      return found === undefined ? undefined : recordOf(found);
    },
    entries: async (teamId, glossaryId) => one(teamId, glossaryId)?.entries,
    async remove(teamId, glossaryId) {
      const [owner, found] = [account(teamId), one(teamId, glossaryId)];
      if (owner === undefined || found === undefined) return false;
      owner.glossaries = owner.glossaries.filter((glossary) => glossary !== found);
      return true;
    },
  };
}

function recordOf({ glossaryId, name, sourceLang, targetLang, entries, createdAtMs }: ReferenceGlossary): GlossaryRecord {
  return { glossaryId, name, sourceLang, targetLang, entryCount: Object.keys(entries).length, createdAtMs };
}
