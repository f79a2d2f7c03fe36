// A team's glossaries: the list, and deleting one, after a question.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { noSuch } from '../../admin/operation.ts';
import { deleteGlossary, findGlossary, listGlossaries } from '../../admin/operations/glossaries.ts';
import type { GlossaryRow } from '../../admin/operations/glossaries.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { GlossaryRecord } from '../../ports/glossary-store.ts';
import type { Team } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, finding, get, mayChange, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { tableOf } from '../list-page.ts';
import { recordRoutes } from '../record-page.ts';
import { count } from '../shown.ts';
import { findTeam } from '../team-keys.ts';

/** Limits the page. */
const GLOSSARIES_MAX = 200;

async function list(visit: SignedInVisit, { context }: ConsoleParts, { teamId, name }: Team): Promise<ConsoleAnswer> {
  const found = await listGlossaries.run!(context, { id: teamId });
  if (found.kind !== 'done') return refusalOf(found);
  const rows = found.value as readonly GlossaryRow[];
  const title = `Glossaries of ${name}`;
  const left = rows.length - GLOSSARIES_MAX;
  const link = ({ glossary_id: id, name: which }: GlossaryRow) =>
    html`<a href="${CONSOLE_PREFIX}/teams/${teamId}/glossaries/${id}/delete">Delete<span class="unseen"> ${which}</span></a>`;
  const around = { caption: title, context, nowMs: visit.nowMs, ...(mayChange(visit) ? { change: link } : {}) };
  const main = html`<h1>${title}</h1>
    ${rows.length === 0 ? html`<p class="soft">${listGlossaries.none}</p>` : await tableOf(listGlossaries, rows.slice(0, GLOSSARIES_MAX), around)}
    ${left > 0 ? html`<p class="soft">${count(left)} more are listed by <code>lingate glossary list</code>.</p>` : undefined}
    <p><a href="${CONSOLE_PREFIX}/teams/${teamId}">Back to the team</a></p>`;
  return pageAnswer({ title, section: 'teams', main });
}

interface Owned {
  readonly teamId: string;
  readonly glossary: GlossaryRecord;
}

/** By the path's `id` and `glossary`. */
async function findOwned({ parameters }: SignedInVisit, { context }: ConsoleParts): Promise<Owned | Refusal> {
  const glossaryId = canonicalUlid(parameters['glossary'] ?? '');
  const none = noSuch('glossary', glossaryId ?? '');
  const found = glossaryId === undefined ? none : await findGlossary(context, glossaryId);
  if (found.kind !== 'done') return refusalOf(found);
  return found.value.teamId === canonicalUlid(parameters['id'] ?? '') ? found.value : refusalOf(none);
}

export const GLOSSARY_ROUTES: readonly ConsoleRoute[] = [
  get('/teams/{id}/glossaries', finding(findTeam, list)),
  ...recordRoutes<Owned>({
    path: '/teams/{id}/glossaries/{glossary}',
    find: findOwned,
    at: ({ teamId, glossary }) => `/teams/${teamId}/glossaries/${glossary.glossaryId}`,
    back: ({ teamId }) => `/teams/${teamId}/glossaries`,
    actions: [
      {
        one: deleteGlossary,
        name: 'delete',
        title: 'Delete the glossary',
        submit: 'Delete the glossary',
        danger: true,
        own: ({ glossary }) => `Delete glossary ${glossary.name}?`,
        asking: ({ glossary }) => ({ id: glossary.glossaryId }),
        given: ({ glossary }) => ({ id: glossary.glossaryId }),
        about({ glossary }) {
          const entries = glossary.dictionaries.reduce((sum, { entryCount }) => sum + entryCount, 0);
          return `Its ${count(entries)} entries are deleted, and requests that name it are refused. This cannot be undone.`;
        },
        notice: (_value, { glossary }) => `Glossary ${glossary.name} is deleted.`,
      },
    ],
  }),
];
