// Revoking a key: first the question, with the key's last use.
import { refusalOf } from '../../admin/admin-refusals.ts';
import { html } from '../../docs/html.ts';
import { audit, CONSOLE_PREFIX, getForm, pageAnswer, post } from '../console-route.ts';
import { postForm } from '../form.ts';
import { findTeamKey, isQuiet, lastUse } from '../team-keys.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { failoverWarning } from '../shown.ts';

const PATH = '/teams/{id}/keys/{key}/revoke';
export const REVOKE_KEY_ROUTES: readonly ConsoleRoute[] = [getForm(PATH, question), post(PATH, revoke)];

async function question(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const found = await findTeamKey(visit, parts);
  if ('kind' in found) return found;
  const { team, key } = found;
  const back = `/teams/${team.teamId}`;
  if (key.status === 'revoked') return { kind: 'see', to: back, notice: html`<p>Key ${key.display} is already revoked.</p>` };
  const title = `Revoke ${key.display}?`;
  const main = html`<h1>${title}</h1>
    <p>Team ${team.name}${key.label === '' ? '' : `, label ${key.label}`}. Last use: ${lastUse(key, visit.nowMs)}.</p>
    ${isQuiet(key, visit.nowMs) ? undefined : html`<p class="warning">It is in use. Unless it has leaked, rotate it first.</p>`}
    <p>Its next request is refused, everywhere. This cannot be undone.</p>
    ${postForm({
      action: `${back}/keys/${key.keyId}/revoke`,
      formToken: visit.formToken,
      fields: html``,
      submit: `Revoke ${key.display}`,
      danger: true,
      beside: html`<a href="${CONSOLE_PREFIX}${back}">Cancel</a>`,
    })}`;
  return pageAnswer({ title, section: 'teams', main });
}

async function revoke(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const found = await findTeamKey(visit, parts);
  if ('kind' in found) return found;
  const { team, key } = found;
  const revoked = await parts.operations.revokeKey(key.keyId);
  if (revoked.kind !== 'done') return refusalOf(revoked);
  audit(parts, visit, 'revokeKey', { team_id: team.teamId, key_id: key.keyId });
  const notice = html`<p>Key ${key.display} is revoked: its next request is refused.</p>
    ${failoverWarning(revoked)}`;
  return { kind: 'see', to: `/teams/${team.teamId}`, notice };
}
