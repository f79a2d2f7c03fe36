// A team's glossaries: the list, and deleting one, after a question.
import { found } from '../../admin/operation.ts';
import { deleteGlossary, findGlossary, listGlossaries } from '../../admin/operations/glossaries.ts';
import type { GlossaryRow } from '../../admin/operations/glossaries.ts';
import { html } from '../../docs/html.ts';
import type { Team } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, finding, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { tableOf } from '../cells.ts';
import { count } from '../shown.ts';
import { findTeam, pathId } from '../team-keys.ts';
import { recordRoutes } from '../record-page.ts';

/** Limits the page. */
const GLOSSARIES_MAX = 200;

async function list(visit: SignedInVisit, { teamId, name }: Team): Promise<ConsoleAnswer> {
  const rows = (await listGlossaries.run!(visit.context, { id: teamId })).value as readonly GlossaryRow[];
  const title = `Glossaries of ${name}`;
  const link = ({ glossary_id: id, name: which }: GlossaryRow) =>
    html`<a class="delete" href="${CONSOLE_PREFIX}/teams/${teamId}/glossaries/${id}/delete"
      >Delete<span class="unseen"> ${which}</span></a
    >`;
  const change = mayChange(visit) ? link : undefined;
  const around = { caption: title, change, most: GLOSSARIES_MAX, more: 'lingate glossary list' };
  const main = html`<h1>${title}</h1>
    ${await tableOf(listGlossaries, rows, visit, around)}
    <p><a href="${CONSOLE_PREFIX}/teams/${teamId}">Back to the team</a></p>`;
  return pageAnswer({ title, section: 'teams', main });
}

type Owned = Awaited<ReturnType<typeof findGlossary>>;

/** By the path's `id` and `glossary`. */
async function findOwned({ parameters, context }: SignedInVisit): Promise<Owned> {
  const glossaryId = pathId(parameters, 'glossary', 'glossary');
  const owned = await findGlossary(context, glossaryId);
  return found(owned.teamId === pathId(parameters, 'id', 'glossary') ? owned : undefined, 'glossary', glossaryId);
}

export const GLOSSARY_ROUTES: readonly ConsoleRoute[] = [
  get('/teams/{id}/glossaries', finding(findTeam, list)),
  ...recordRoutes<Owned>({
    path: '/teams/{id}/glossaries/{glossary}',
    find: findOwned,
    at: ({ teamId, glossary }) => `/teams/${teamId}/glossaries/${glossary.glossaryId}`,
    ids: ({ glossary }) => ({ id: glossary.glossaryId }),
    back: ({ teamId }) => `/teams/${teamId}/glossaries`,
    actions: [
      {
        one: deleteGlossary,
        name: 'delete',
        title: 'Delete the glossary',
        danger: true,
        own: ({ glossary }) => `Delete glossary ${glossary.name}?`,
        about({ glossary }) {
          const entries = glossary.dictionaries.reduce((sum, { entryCount }) => sum + entryCount, 0);
          return `Its ${count(entries)} entries are deleted, and requests that name it are refused. This cannot be undone.`;
        },
        notice: (_value, { glossary }) => `Glossary ${glossary.name} is deleted.`,
      },
    ],
  }),
];
