// Applying a plan: first the question, with the teams that have other numbers; then all of them get the plan's.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { PlanComparison, TeamBehind } from '../../admin/plan-comparison.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { audit, CONSOLE_PREFIX, get, mayChange, pageAnswer, post } from '../console-route.ts';
import { postForm } from '../form.ts';
import { count, failoverWarning, NUMBER_LABELS, numberText } from '../shown.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { htmlTable } from '../html-table.ts';

const PATH = '/plans/{name}/apply';
export const APPLY_PLAN_ROUTES: readonly ConsoleRoute[] = [get(PATH, question), post(PATH, apply)];

/** How many are compared for the question; applying goes through all teams. */
const COMPARED_MAX = 10_000;

async function question(visit: SignedInVisit, { operations }: ConsoleParts): Promise<ConsoleAnswer> {
  const { parameters, formToken } = visit;
  const name = parameters['name'] ?? '';
  const compared = await operations.comparePlan(name, COMPARED_MAX);
  if (compared.kind !== 'done') return refusalOf(compared, 'path');
  const { behind, complete, examples } = compared.value;
  const form = postForm({
    action: `/plans/${name}/apply`,
    formToken,
    fields: html`<p>The plan's numbers take effect at the next request of each of these teams. Their old numbers are not kept.</p>`,
    submit: complete ? `Apply to ${teams(behind)}` : 'Apply to all of its teams',
    beside: html`<a href="${CONSOLE_PREFIX}/plans">Cancel</a>`,
  });
  const asks = mayChange(visit) && !(behind === 0 && complete);
  const title = !asks ? `Plan ${name}` : `Apply plan ${name}?`;
  const main = html`<h1>${title}</h1>
    <p>${found(compared.value)}</p>
    ${behind === 0 ? undefined : differences(examples, behind)}
    ${!asks ? html`<p><a href="${CONSOLE_PREFIX}/plans">Back to the plans</a></p>` : form}`;
  return pageAnswer({ title, section: 'plans', main });
}

async function apply(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const plan = visit.parameters['name'] ?? '';
  const stands = await parts.applications.start(parts.operations, plan, ({ teams: all, changed }) =>
    audit(parts, visit, 'applyPlan', { plan, teams: all, changed }),
  );
  const notice = (text: string): ConsoleAnswer => ({ kind: 'see', to: '/plans', notice: html`<p>${text}</p>` });
  switch (stands.kind) {
    case 'done':
      return {
        kind: 'see',
        to: '/plans',
        notice: html`<p>Plan ${plan}: ${teams(stands.applied.changed)} changed, of ${count(stands.applied.teams)} on it.</p>
          ${failoverWarning({ kind: 'done', value: stands.applied, replicated: stands.replicated })}`,
      };
    case 'running':
      return notice(`Plan ${plan} is being applied; its progress is shown below.`);
    case 'stopped':
      return notice(`Plan ${plan}: the store stopped answering after ${teams(stands.changed)}. Apply it again to continue.`);
    case 'no_such_plan':
    case 'no_such_team':
    case 'no_such_key':
    case 'no_such_glossary':
    case 'no_deletion':
    case 'no_key_limits':
    case 'no_history':
    case 'other_request':
    case 'plan_takes_no_credit':
    case 'balance_too_large':
    case 'credit_not_free':
    case 'reason_missing':
    case 'no_audit':
      return refusalOf(stands, 'path');
  }
}

function found({ members, behind, looked, complete }: PlanComparison): string {
  const of = complete ? '' : `The first ${count(looked)} teams were checked. `;
  if (members === 0) return `${of}No team is on this plan.`;
  return `${of}Teams on this plan: ${count(members)}. With other numbers than the configuration: ${behind === 0 ? 'none' : count(behind)}.`;
}

function differences(examples: readonly TeamBehind[], behind: number): Html {
  const columns = [{ label: 'Team' }, { label: 'Number' }, { label: 'Held to', figures: true }, { label: 'The plan', figures: true }];
  const rows = examples.flatMap(({ team, differences: numbers }) =>
    numbers.map(({ number, held, plan }) => [
      html`<a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>`,
      NUMBER_LABELS[number],
      numberText(number, held, team.limits.currency),
      numberText(number, plan, team.limits.currency),
    ]),
  );
  const more = behind > examples.length ? html`<p class="soft">The first ${count(examples.length)} of them.</p>` : undefined;
  return html`${htmlTable({ caption: "Where teams differ from the plan's numbers", columns, rows })} ${more}`;
}

function teams(number: number): string {
  return number === 1 ? 'one team' : `${count(number)} teams`;
}
