// The operations on teams' glossaries (list, delete) for the command line, the admin API and the console.
import type { Static } from 'typebox';
import { rfc3339 } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { GlossaryRecord, GlossaryStore } from '../ports/glossary-store.ts';
import type { TeamRegistry } from '../ports/team-registry.ts';
import { done, ofTeam } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import type { GlossaryAnswer } from './admin-schemas.ts';

export interface GlossaryOperationsOptions {
  readonly teams: Pick<TeamRegistry, 'findTeam' | 'replicated'>;
  readonly glossaries: GlossaryStore;
  /** Who makes the changes, for the audit; `undefined` for read-only use. */
  readonly actor?: string;
}

export interface OwnedGlossary {
  readonly teamId: string;
  readonly glossary: GlossaryRecord;
}

export class GlossaryOperations {
  readonly #options: GlossaryOperationsOptions;

  constructor(options: GlossaryOperationsOptions) {
    this.#options = options;
  }

  /** The same operations, in this operator's name. */
  as(actor: string): GlossaryOperations {
    return new GlossaryOperations({ ...this.#options, actor });
  }

  async list(teamId: string): Promise<AdminResult<readonly GlossaryRecord[]>> {
    const { teams, glossaries } = this.#options;
    const team = ofTeam(teamId, await teams.findTeam(teamId));
    if (team.kind !== 'done') return team;
    const found = await glossaries.list(teamId);
    return isUnavailable(found) ? found : done(found);
  }

  async find(glossaryId: string): Promise<AdminResult<OwnedGlossary>> {
    const { glossaries } = this.#options;
    const teamId = await glossaries.ownerOf(glossaryId);
    if (isUnavailable(teamId)) return teamId;
    const glossary = teamId === undefined ? undefined : await glossaries.find(teamId, glossaryId);
    if (isUnavailable(glossary)) return glossary;
    return teamId === undefined || glossary === undefined ? { kind: 'no_such_glossary', glossaryId } : done({ teamId, glossary });
  }

  /** Returns the deleted glossary. */
  async remove(glossaryId: string): Promise<AdminResult<OwnedGlossary>> {
    const found = await this.find(glossaryId);
    if (found.kind !== 'done') return found;
    const { teamId } = found.value;
    const { teams, glossaries, actor } = this.#options;
    if (actor === undefined) throw new Error('deleteGlossary without an actor');
    const removed = await glossaries.remove(teamId, glossaryId, { actor, action: 'deleteGlossary' });
    if (isUnavailable(removed)) return removed;
    return removed ? done(found.value, await teams.replicated([teamId])) : { kind: 'no_such_glossary', glossaryId };
  }
}

/** A glossary as `/v1/glossaries` shows it, but with any number of dictionaries: `source_lang` and `target_lang` if it has one. */
export type GlossaryReport = Static<typeof GlossaryAnswer>;

export function glossaryReport({ glossaryId, name, dictionaries, createdAtMs }: GlossaryRecord): GlossaryReport {
  const shown = dictionaries.map(({ sourceLang, targetLang, entryCount }) => ({
    source_lang: sourceLang,
    target_lang: targetLang,
    entry_count: entryCount,
  }));
  const [only, second] = shown;
  return {
    glossary_id: glossaryId,
    name,
    ...(only === undefined || second !== undefined ? {} : { source_lang: only.source_lang, target_lang: only.target_lang }),
    entry_count: shown.reduce((sum, { entry_count }) => sum + entry_count, 0),
    created_at: rfc3339(createdAtMs),
    dictionaries: shown,
  };
}
