// A team's glossaries: the list, and deleting one, after a question.
import { NO_GLOSSARY, NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import { glossaryReport } from '../../admin/glossary-operations.ts';
import type { OwnedGlossary } from '../../admin/glossary-operations.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { GlossaryRecord } from '../../ports/glossary-store.ts';
import { audit, CONSOLE_PREFIX, get, getForm, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { postForm } from '../form.ts';
import { htmlTable } from '../html-table.ts';
import { count, day, failoverWarning } from '../shown.ts';

const ONE = '/teams/{id}/glossaries/{glossary}/delete';
export const GLOSSARY_ROUTES: readonly ConsoleRoute[] = [get('/teams/{id}/glossaries', list), getForm(ONE, question), post(ONE, remove)];

/** Limits the page. */
const GLOSSARIES_MAX = 200;

const COLUMNS = [
  { label: 'Name', text: true },
  { label: 'Languages', text: true },
  { label: 'Entries', figures: true },
  { label: 'Made' },
  { label: 'Change' },
] as const;

async function list(visit: SignedInVisit, { operations, glossaries }: ConsoleParts): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  if (teamId === undefined) return NO_TEAM;
  const [team, found] = [await operations.showTeam(teamId), await glossaries.list(teamId)];
  if (team.kind !== 'done') return refusalOf(team);
  if (found.kind !== 'done') return refusalOf(found);
  const title = `Glossaries of ${team.value.name}`;
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

async function question(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const found = await findGlossary(visit, parts);
  if ('kind' in found) return found;
  const { teamId, glossary } = found;
  const title = `Delete glossary ${glossary.name}?`;
  const main = html`<h1>${title}</h1>
    <p>
      Its ${count(glossaryReport(glossary).entry_count)} entries are deleted, and requests that name it are refused. This cannot be undone.
    </p>
    ${postForm({
      action: `/teams/${teamId}/glossaries/${glossary.glossaryId}/delete`,
      formToken: visit.formToken,
      fields: html``,
      submit: 'Delete the glossary',
      danger: true,
      beside: html`<a href="${CONSOLE_PREFIX}/teams/${teamId}/glossaries">Cancel</a>`,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

async function remove(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const found = await findGlossary(visit, parts);
  if ('kind' in found) return found;
  const { teamId, glossary } = found;
  const removed = await parts.glossaries.remove(glossary.glossaryId);
  if (removed.kind !== 'done') return refusalOf(removed);
  audit(parts, visit, 'deleteGlossary', { team_id: teamId, glossary_id: glossary.glossaryId });
  const notice = html`<p>Glossary ${glossary.name} is deleted.</p>
    ${failoverWarning(removed)}`;
  return { kind: 'see', to: `/teams/${teamId}/glossaries`, notice };
}

/** By the path's `id` and `glossary`. */
async function findGlossary({ parameters }: SignedInVisit, { glossaries }: ConsoleParts): Promise<OwnedGlossary | Refusal> {
  const glossaryId = canonicalUlid(parameters['glossary'] ?? '');
  const found = glossaryId === undefined ? undefined : await glossaries.find(glossaryId);
  if (found === undefined) return NO_GLOSSARY;
  if (found.kind !== 'done') return refusalOf(found);
  return found.value.teamId === canonicalUlid(parameters['id'] ?? '') ? found.value : NO_GLOSSARY;
}
