// One team: what it has used, its keys, and the forms that change it.
import type { Usage } from '../../ports/team-registry.ts';
import { NO_TEAM, refusalOf } from '../../admin/admin-refusals.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { canonicalUlid } from '../../domain/ulid.ts';
import type { UsageReport } from '../../domain/usage-report.ts';
import type { FieldFaults } from '../form-fields.ts';
import { get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { teamForms } from '../team-forms.ts';
import { keysTable } from '../keys-table.ts';

export const TEAM_ROUTES: readonly ConsoleRoute[] = [get('/teams/{id}', (visit, parts) => teamPage(visit, parts, {}))];

/** `faults` are those of a form that was sent; such a form is filled in as it was sent. */
export async function teamPage(visit: SignedInVisit, parts: ConsoleParts, faults: FieldFaults): Promise<ConsoleAnswer> {
  const teamId = canonicalUlid(visit.parameters['id'] ?? '');
  const found = teamId === undefined ? undefined : await parts.operations.usage(teamId);
  if (found?.kind !== 'done') return found === undefined ? NO_TEAM : refusalOf(found);
  const { figures, report } = found.value;
  const { team } = figures;
  const main = html`<h1>${team.name}</h1>
    <p class="soft">Team <code>${team.teamId}</code>, plan ${team.plan}, since ${day(team.createdAtMs)}</p>
    ${usageSection(figures, report)}
    <h2 id="keys">Keys</h2>
    ${keysTable(figures, visit.nowMs)} ${teamForms(team, parts.operations.listPlans(), visit, faults)}`;
  const assets = ['copy.js'] as const;
  return pageAnswer({ title: team.name, section: 'teams', main, assets }, Object.keys(faults).length === 0 ? 200 : 400);
}

function usageSection({ team, periodStartMs, periodEndMs }: Usage, report: UsageReport): Html {
  const { limits } = team;
  return html`<h2>This period</h2>
    <dl class="facts">
      ${fact('Period', html`${day(periodStartMs)} to ${day(periodEndMs)}`)}
      ${
        report.billing === 'quota'
          ? html`${fact('Characters', usageBar(`Characters of ${team.name}`, report.character_count, report.character_limit))}
            ${fact('Beyond the limit', overageText(report.overage))}`
          : html`${fact('Characters', count(report.character_count))}
            ${fact('Credit', money(report.credit.balance_minor, report.credit.currency))}
            ${fact('Price', `${money(limits.minorPerMillion, limits.currency)} per million characters`)}`
      }
      ${fact('Requests', `at most ${count(limits.requestsPerSecond)} a second, ${count(limits.maxCharactersPerRequest)} characters each`)}
      ${fact('Glossaries', `at most ${count(limits.maxGlossaries)}`)}
    </dl>`;
}

function overageText({ character_count: characters, cost_minor: cost, cap_minor: cap, currency }: OverageReport): string {
  if (cap === 0) return 'nothing: the limit is the end';
  return `${count(characters)} characters, ${money(cost, currency)} of at most ${money(cap, currency)}`;
}

type OverageReport = Extract<UsageReport, { billing: 'quota' }>['overage'];

function fact(name: string, value: Html | string): Html {
  return html`<div>
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`;
}
