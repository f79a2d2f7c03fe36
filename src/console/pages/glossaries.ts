// A team's glossaries: the list, and deleting one, after a question.
import { NO_GLOSSARY, refusalOf } from '../../admin/admin-refusals.ts';
import { glossaryReport } from '../../admin/glossary-operations.ts';
import type { OwnedGlossary } from '../../admin/glossary-operations.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { GlossaryRecord } from '../../ports/glossary-store.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, changedAnswer, CONSOLE_PREFIX, finding, get, getForm, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { postForm } from '../form.ts';
import { freeText, htmlTable, numeric } from '../html-table.ts';
import { count, day } from '../shown.ts';
import { findTeam } from '../team-keys.ts';

const ONE = '/teams/{id}/glossaries/{glossary}/delete';
export const GLOSSARY_ROUTES: readonly ConsoleRoute[] = [
  get('/teams/{id}/glossaries', finding(findTeam, list)),
  getForm(ONE, finding(findGlossary, question)),
  post(ONE, finding(findGlossary, remove)),
];

/** Limits the page. */
const GLOSSARIES_MAX = 200;

const COLUMNS = [freeText('Name'), freeText('Languages'), numeric('Entries'), 'Created', 'Change'] as const;

async function list(visit: SignedInVisit, { glossaries }: ConsoleParts, { teamId, name }: Team): Promise<ConsoleAnswer> {
  const found = await glossaries.list(teamId);
  if (found.kind !== 'done') return refusalOf(found);
  const title = `Glossaries of ${name}`;
  const main = html`<h1>${title}</h1>
    ${found.value.length === 0 ? html`<p class="soft">There are no glossaries.</p>` : table(title, teamId, found.value, mayChange(visit))}
    <p><a href="${CONSOLE_PREFIX}/teams/${teamId}">Back to the team</a></p>`;
  return pageAnswer({ title, section: 'teams', main });
}

function table(caption: string, teamId: string, glossaries: readonly GlossaryRecord[], changes: boolean): Html {
  const rows = glossaries.slice(0, GLOSSARIES_MAX).map((glossary) => {
    const { dictionaries, entry_count: entries } = glossaryReport(glossary);
    const pairs = dictionaries.map(({ source_lang, target_lang }) => `${source_lang} to ${target_lang}`).join(', ');
    const to = `${CONSOLE_PREFIX}/teams/${teamId}/glossaries/${glossary.glossaryId}/delete`;
    return [
      glossary.name,
      pairs === '' ? '–' : pairs,
      count(entries),
      day(glossary.createdAtMs),
      changes ? html`<a href="${to}">Delete<span class="unseen"> ${glossary.name}</span></a>` : '–',
    ];
  });
  const left = glossaries.length - rows.length;
  return html`${htmlTable({ caption, columns: COLUMNS, rows })}
  ${left > 0 ? html`<p class="soft">${count(left)} more are listed by <code>lingate glossary list</code>.</p>` : undefined}`;
}

function question({ formToken }: SignedInVisit, _parts: ConsoleParts, { teamId, glossary }: OwnedGlossary): ConsoleAnswer {
  const title = `Delete glossary ${glossary.name}?`;
  const main = html`<h1>${title}</h1>
    <p>
      Its ${count(glossaryReport(glossary).entry_count)} entries are deleted, and requests that name it are refused. This cannot be undone.
    </p>
    ${postForm({
      action: `/teams/${teamId}/glossaries/${glossary.glossaryId}/delete`,
      formToken,
      submit: 'Delete the glossary',
      danger: true,
      cancel: `/teams/${teamId}/glossaries`,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

async function remove(visit: SignedInVisit, parts: ConsoleParts, { teamId, glossary }: OwnedGlossary): Promise<ConsoleAnswer> {
  const removed = await parts.glossaries.remove(glossary.glossaryId);
  if (removed.kind !== 'done') return refusalOf(removed);
  audit(parts, visit, 'deleteGlossary', { team_id: teamId, glossary_id: glossary.glossaryId });
  return changedAnswer(`/teams/${teamId}/glossaries`, html`<p>Glossary ${glossary.name} is deleted.</p>`, removed);
}

/** By the path's `id` and `glossary`. */
async function findGlossary({ parameters }: SignedInVisit, { glossaries }: ConsoleParts): Promise<OwnedGlossary | Refusal> {
  const glossaryId = canonicalUlid(parameters['glossary'] ?? '');
  const found = glossaryId === undefined ? undefined : await glossaries.find(glossaryId);
  if (found === undefined) return NO_GLOSSARY;
  if (found.kind !== 'done') return refusalOf(found);
  return found.value.teamId === canonicalUlid(parameters['id'] ?? '') ? found.value : NO_GLOSSARY;
}
