// Deleting a team: its name must be typed, because this cannot be undone.
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import type { Refusal } from '../../core/outcome.ts';
import { html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { Team } from '../../ports/team-registry.ts';
import { audit, CONSOLE_PREFIX, getForm, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { NAME_UNITS_MAX, postForm, selectField, textField } from '../form.ts';
import type { FieldFaults } from '../form.ts';
import { failoverWarning } from '../shown.ts';

const PATH = '/teams/{id}/delete';
export const DELETE_TEAM_ROUTES: readonly ConsoleRoute[] = [getForm(PATH, question), post(PATH, remove)];

const USAGE = [
  { value: 'delete', label: 'delete it too' },
  { value: 'keep', label: 'keep it, without names' },
] as const;

async function question(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const team = await findTeam(visit, parts);
  return 'kind' in team ? team : questionPage(visit, team, {});
}

function questionPage({ formToken, form }: SignedInVisit, { teamId, name }: Team, faults: FieldFaults): ConsoleAnswer {
  const title = `Delete ${name}?`;
  const main = html`<h1>${title}</h1>
    <p>Team <code>${teamId}</code></p>
    <p class="warning">
      Its keys are refused at their next request, everywhere. Its glossaries, its credit and its name are deleted. This cannot be undone.
    </p>
    ${postForm({
      action: `/teams/${teamId}/delete`,
      formToken,
      fields: html`${selectField({
        name: 'usage',
        label: 'Its usage by day and period',
        choices: USAGE,
        chosen: form('usage'),
        fault: faults['usage'],
      })}
      ${textField({
        name: 'name',
        label: 'Name of the team',
        value: form('name'),
        required: true,
        hint: `Type ${name} to continue.`,
        fault: faults['name'],
        more: { maxlength: NAME_UNITS_MAX, autocomplete: 'off' },
      })}`,
      submit: 'Delete the team',
      danger: true,
      beside: html`<a href="${CONSOLE_PREFIX}/teams/${teamId}">Cancel</a>`,
    })}`;
  return pageAnswer({ title, section: 'teams', main }, Object.keys(faults).length === 0 ? 200 : 400);
}

async function remove(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const team = await findTeam(visit, parts);
  if ('kind' in team) return team;
  const { teamId, name } = team;
  const usage = visit.form('usage');
  if (usage !== 'delete' && usage !== 'keep') return questionPage(visit, team, { usage: 'Choose one.' });
  if (asRead(visit.form('name')) !== asRead(name)) return questionPage(visit, team, { name: 'This is not the name of the team.' });
  const deleted = await parts.operations.deleteTeam(teamId, usage === 'keep');
  if (deleted.kind !== 'done') return refusalOf(deleted);
  parts.forget(teamId);
  audit(parts, visit, 'deleteTeam', { team_id: teamId });
  const notice = html`<p>Team <code>${teamId}</code> is deleted${usage === 'keep' ? '; its days and periods are kept' : ''}.</p>
    ${failoverWarning(deleted)}`;
  return { kind: 'see', to: '/teams', notice };
}

async function findTeam({ parameters }: SignedInVisit, { operations }: ConsoleParts): Promise<Team | Refusal> {
  const teamId = canonicalUlid(parameters['id'] ?? '');
  const found = teamId === undefined ? undefined : await operations.showTeam(teamId);
  if (found === undefined) return NO_TEAM;
  return found.kind === 'done' ? found.value : refusalOf(found);
}

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}
