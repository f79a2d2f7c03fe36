// Deleting a team: its name must be typed, because this cannot be undone.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { html } from '../../docs/html.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, changedAnswer, finding, getForm, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { NAME_INPUT, postForm, selectField, textField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { findTeam } from '../team-keys.ts';

const PATH = '/teams/{id}/delete';
export const DELETE_TEAM_ROUTES: readonly ConsoleRoute[] = [
  getForm(
    PATH,
    finding(findTeam, (visit, _parts, team) => questionPage(visit, team, {})),
  ),
  post(PATH, finding(findTeam, remove)),
];

const USAGE = [
  { value: 'delete', label: 'delete it too' },
  { value: 'keep', label: 'keep it, without names' },
] as const;

function questionPage({ formToken, form }: SignedInVisit, { teamId, name }: Team, faults: FieldFaults): ConsoleAnswer {
  const title = `Delete ${name}?`;
  const texts = { form, faults };
  const typed = { required: true, hint: `Type ${name} to continue.`, more: NAME_INPUT };
  const main = html`<h1>${title}</h1>
    <p>Team <code>${teamId}</code></p>
    <p class="warning">
      Its keys are refused at their next request, everywhere. Its glossaries, its credit and its name are deleted. This cannot be undone.
    </p>
    ${postForm({
      action: `/teams/${teamId}/delete`,
      formToken,
      fields: html`${selectField(texts, 'usage', 'Its usage by day and period', USAGE)}
      ${textField(texts, 'name', 'Name of the team', typed)}`,
      submit: 'Delete the team',
      danger: true,
      cancel: `/teams/${teamId}`,
    })}`;
  return pageAnswer({ title, section: 'teams', main }, faults);
}

async function remove(visit: SignedInVisit, parts: ConsoleParts, team: Team): Promise<ConsoleAnswer> {
  const { teamId, name } = team;
  const usage = visit.form('usage');
  if (usage !== 'delete' && usage !== 'keep') return questionPage(visit, team, { usage: 'Choose one.' });
  if (asRead(visit.form('name')) !== asRead(name)) return questionPage(visit, team, { name: 'This is not the name of the team.' });
  const deleted = await parts.operations.deleteTeam(teamId, usage === 'keep');
  if (deleted.kind !== 'done') return refusalOf(deleted);
  parts.forget(teamId);
  audit(parts, visit, 'deleteTeam', { team_id: teamId });
  const kept = usage === 'keep' ? '; its days and periods are kept' : '';
  return changedAnswer('/teams', html`<p>Team <code>${teamId}</code> is deleted${kept}.</p>`, deleted);
}

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}
