// The glossaries of teams, without their entries.
import type { Static } from 'typebox';
import { rfc3339 } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { Type } from '../../domain/typebox.ts';
import type { GlossaryRecord } from '../../ports/glossary-store.ts';
import { glossaryId, moment, teamFlag, whole } from '../fields.ts';
import type { OperationContext } from '../operation-context.ts';
import { done, found, operation } from '../operation.ts';
import type { AdminOperation, RowColumn } from '../operation.ts';

const Glossary = Type.Object({
  glossary_id: Type.String(),
  name: Type.String(),
  source_lang: Type.Optional(Type.String({ description: 'Absent, like target_lang, unless the glossary has exactly one dictionary.' })),
  target_lang: Type.Optional(Type.String()),
  entry_count: Type.Integer({ minimum: 0, description: 'In all dictionaries.' }),
  created_at: moment,
  dictionaries: Type.Array(Type.Object({ source_lang: Type.String(), target_lang: Type.String(), entry_count: whole })),
});
export type GlossaryRow = Static<typeof Glossary>;

/** As `/v1/glossaries`, with any number of dictionaries: `source_lang` for one. */
function rowOf({ glossaryId: id, name, dictionaries, createdAtMs }: GlossaryRecord): GlossaryRow {
  const shown = dictionaries.map(({ sourceLang, targetLang, entryCount }) => ({
    source_lang: sourceLang,
    target_lang: targetLang,
    entry_count: entryCount,
  }));
  const only = shown.length === 1 ? shown[0] : undefined;
  return {
    glossary_id: id,
    name,
    source_lang: only?.source_lang,
    target_lang: only?.target_lang,
    entry_count: shown.reduce((sum, { entry_count }) => sum + entry_count, 0),
    created_at: rfc3339(createdAtMs),
    dictionaries: shown,
  };
}

const columns: readonly RowColumn<GlossaryRow>[] = [
  { head: 'Glossary', cell: (row) => row.glossary_id, only: 'command' },
  { head: 'Name', cell: (row) => row.name, holds: 'text' },
  {
    head: 'Languages',
    cell: ({ dictionaries }) => dictionaries.map((one) => `${one.source_lang} to ${one.target_lang}`).join(', ') || undefined,
    holds: 'text',
  },
  { head: 'Entries', cell: (row) => row.entry_count, holds: 'figures' },
  { head: 'Created', cell: (row) => ({ kind: 'day', at: row.created_at }) },
];

export const listGlossaries = operation({
  id: 'listGlossaries',
  command: 'glossary list',
  http: 'GET /teams/{id}/glossaries',
  summary: "Lists a team's glossaries, without their entries.",
  examples: ['lingate glossary list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  input: { id: teamFlag },
  row: Glossary,
  list: 'glossaries',
  columns,
  none: 'This team has no glossaries.',
  async run(context, { id }) {
    found(await context.options.teams.findTeam(id), 'team', id);
    return answered(await context.part('glossaries').list(id)).map(rowOf);
  },
});

/** By its id, of whichever team. */
export async function findGlossary(context: OperationContext, id: string) {
  const glossaries = context.part('glossaries');
  const teamId = found(await glossaries.ownerOf(id), 'glossary', id);
  return { teamId, glossary: found(await glossaries.find(teamId, id), 'glossary', id) };
}

export const deleteGlossary: AdminOperation = operation({
  id: 'deleteGlossary',
  past: 'glossary deleted',
  command: 'glossary delete',
  http: 'DELETE /glossaries/{id}',
  summary: 'Deletes a glossary.',
  about: 'Its entries are deleted, and the next request that names it is refused. This cannot be undone.',
  examples: ['lingate glossary delete 01JD3QB5W1T9C4E8S7X2G6V0PA', 'lingate glossary delete 01JD3QB5W1T9C4E8S7X2G6V0PA --yes --json'],
  input: { id: glossaryId },
  status: 204,
  row: Type.Object({ glossary_id: Type.String(), team_id: Type.String(), status: Type.Enum(['deleted']) }),
  asking: 'deleting a glossary',
  async asks(context, { id }) {
    const { teamId, glossary } = await findGlossary(context, id);
    const does = `This deletes the glossary ${JSON.stringify(glossary.name)} of team ${teamId} permanently.`;
    return { does, word: glossary.name, wordIs: 'its name' };
  },
  notice: ({ glossary_id: id, team_id: team }) => `Glossary ${id} of team ${team} is deleted.`,
  async run(context, { id }) {
    const { teamId } = await findGlossary(context, id);
    found((await context.part('glossaries').remove(teamId, id, context.by(deleteGlossary))) || undefined, 'glossary', id);
    const ids = { glossary_id: id, team_id: teamId };
    return done({ ...ids, status: 'deleted' }, await context.replicated([teamId]), ids);
  },
});

export const operations = [listGlossaries, deleteGlossary];
