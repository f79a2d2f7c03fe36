// The plans of the configuration with their numbers, and applying one: first the question, with the teams that have other numbers.
import { hash } from 'node:crypto';
import { refusalOf } from '../../admin/admin-refusals.ts';
import { costlierText } from '../../admin/costlier.ts';
import { comparedPlan, planReports } from '../../admin/operations/plans.ts';
import type { ComparedPlan, PlanReport } from '../../admin/operations/plans.ts';
import { differencesOf, missingPlans, missingPlanText } from '../../admin/plan-comparison.ts';
import type { MissingPlan, TeamsBehind } from '../../admin/plan-comparison.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { TeamLimits } from '../../domain/plan.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { windowTexts, writtenWindows } from '../../domain/window-limits.ts';
import { periodRule } from '../../domain/period.ts';
import { audit, changedAnswer, CONSOLE_PREFIX, get, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { hiddenField, postForm } from '../form.ts';
import { htmlTable, numeric } from '../html-table.ts';
import type { Application } from '../plan-applications.ts';
import { ago, count, money, numberLabel, numberText, periodText } from '../shown.ts';

const APPLY = '/plans/{name}/apply';
export const PLANS_ROUTES: readonly ConsoleRoute[] = [get('/plans', plansPage), get(APPLY, question), post(APPLY, apply)];

async function plansPage({ nowMs }: SignedInVisit, { context, applications }: ConsoleParts): Promise<ConsoleAnswer> {
  const { teams, plans } = context.options;
  const missing = await missingPlans(teams, plans(), COMPARED_MAX);
  const limits = [numeric('Requests per second'), numeric('Longest request'), numeric('Glossaries'), 'Limits'];
  const columns = ['Plan', 'Included characters', 'Overage', ...limits, 'Its teams'];
  const rows = planReports(context).map((plan) => [
    plan.name,
    ...billing(plan),
    count(plan.requests_per_second),
    `${count(plan.max_characters_per_request)} characters`,
    count(plan.max_glossaries),
    windowTexts(writtenWindows(plan.limits ?? []), count).join(', ') || '–',
    html`${standing(applications.of(plan.name), nowMs)}
      <a href="${CONSOLE_PREFIX}/plans/${plan.name}/apply">Compare<span class="unseen"> plan ${plan.name} with its teams</span></a>`,
  ]);
  const main = html`<h1>Plans</h1>
    <p>
      From the configuration. Each team has its own copy of its plan's numbers. After a change here, compare the plan, and apply it to its
      teams.
    </p>
    ${isUnavailable(missing) ? undefined : missing.missing.map(missingPlan)}
    ${htmlTable({ caption: 'The plans of the configuration', columns, rows })}`;
  return pageAnswer({ title: 'Plans', section: 'plans', main });
}

/** A store that is away is shown on the overview. */
function missingPlan(missing: MissingPlan): Html {
  return html`<p><span class="fault">${missingPlanText(missing)}</span></p>`;
}

/** What is included, and the price of overage. */
function billing(plan: PlanReport): [included: string, overage: string] {
  const price = (minor: number): string => `${money(minor, plan.currency)} per million`;
  if (plan.billing === 'credit') return [`${price(plan.credit_minor_per_million)}, prepaid`, '–'];
  const included = `${count(plan.characters)} ${periodText(periodRule(plan.period, plan.period_anchor))}`;
  if (plan.overage_cap_minor === 0) return [included, 'none'];
  return [included, `${price(plan.overage_minor_per_million)}, up to ${money(plan.overage_cap_minor, plan.currency)}`];
}

function standing(application: Application | undefined, nowMs: number): Html | undefined {
  switch (application?.kind) {
    case undefined:
      return undefined;
    case 'running':
      return html`${application.behind === 0 ? 'being applied' : `${count(application.changed)} of ${count(application.behind)} changed`},
        <a href="${CONSOLE_PREFIX}/plans">check again</a><br />`;
    case 'done':
      return html`applied ${ago(application.atMs, nowMs)}: ${count(application.applied.changed)} of ${count(application.applied.teams)}
        changed<br />`;
    case 'stopped':
      return html`<span class="fault"
          >stopped ${ago(application.atMs, nowMs)} after ${count(application.changed)} teams: the store was away</span
        ><br />`;
  }
}

/** How many are compared for the question; applying goes through all teams. */
const COMPARED_MAX = 10_000;

async function question(visit: SignedInVisit, { context }: ConsoleParts): Promise<ConsoleAnswer> {
  const compared = await comparedPlan(context, visit.parameters['name'] ?? '', 'now', COMPARED_MAX);
  return compared.kind === 'done' ? questionPage(visit, compared.value) : refusalOf(compared);
}

function questionPage(visit: SignedInVisit, compared: ComparedPlan, notice?: Html): ConsoleAnswer {
  const { parameters, formToken } = visit;
  const name = parameters['name'] ?? '';
  const { behind, complete, costlier, limits } = compared;
  const form = postForm({
    action: `/plans/${name}/apply`,
    formToken,
    fields: html`${hiddenField('shown', shownMark(compared))}
      <p>The plan's numbers take effect at the next request of each of these teams. Their old numbers are not kept.</p>`,
    submit: complete ? `Apply to ${teamsText(behind.length)}` : 'Apply to all of its teams',
    danger: costlier.refused > 0,
    cancel: '/plans',
  });
  const asks = mayChange(visit) && !(behind.length === 0 && complete);
  const title = !asks ? `Plan ${name}` : `Apply plan ${name}?`;
  const main = html`<h1>${title}</h1>
    ${notice}
    <p>${found(compared)}</p>
    ${costlier.teams === 0 ? undefined : html`<p class="warning">This ${costlierText(costlier, limits.currency)}.</p>`}
    ${behind.length === 0 ? undefined : differences(behind, limits)}
    ${!asks ? html`<p><a href="${CONSOLE_PREFIX}/plans">Back to the plans</a></p>` : form}`;
  return pageAnswer({ title, section: 'plans', main });
}

/**
 * Stands for what the question showed: which teams get which numbers, and for how many of them that is costlier or refuses requests.
 * What has been used so far is not in it, or a busy team could never be changed.
 */
function shownMark({ behind, complete, costlier, limits }: ComparedPlan): string {
  const teams = behind.map(({ team: { teamId, plan, limits: held, nextPlan }, change }) => [teamId, plan, held, nextPlan, change]);
  return hash('sha256', JSON.stringify([limits, complete, costlier.teams, costlier.refused, teams]), 'base64url');
}

/** Applies only what the operator has seen: if that has changed since, it is shown again. */
async function apply(visit: SignedInVisit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const plan = visit.parameters['name'] ?? '';
  if (parts.applications.of(plan)?.kind !== 'running') {
    const compared = await comparedPlan(parts.context, plan, 'now', COMPARED_MAX);
    if (compared.kind !== 'done') return refusalOf(compared);
    if (visit.form('shown') !== shownMark(compared.value)) return questionPage(visit, compared.value, CHANGED_SINCE);
  }
  const stands = await parts.applications.start(parts.context, plan, ({ teams: all, changed }) =>
    audit(parts, visit, 'applyPlan', { plan, teams: all, changed }),
  );
  const see = (text: string): ConsoleAnswer => ({ kind: 'see', to: '/plans', notice: html`<p>${text}</p>` });
  if (stands.kind === 'running') return see(`Plan ${plan} is being applied; its progress is shown below.`);
  if (stands.kind === 'stopped')
    return see(`Plan ${plan}: the store stopped answering after ${teamsText(stands.changed)}. Apply it again to continue.`);
  if (stands.kind !== 'done') return refusalOf(stands);
  const { applied: value, replicated } = stands;
  const notice = html`<p>Plan ${plan}: ${teamsText(value.changed)} changed, of ${count(value.teams)} on it.</p>`;
  return changedAnswer('/plans', notice, { replicated });
}

const CHANGED_SINCE = html`<p class="warning">Nothing was applied: what applying the plan does has changed since it was shown.</p>`;

function found({ members, behind, looked, complete }: TeamsBehind): string {
  const of = complete ? '' : `The first ${count(looked)} teams were checked. `;
  if (members === 0) return `${of}No team is on this plan.`;
  const others = behind.length === 0 ? 'none' : count(behind.length);
  return `${of}Teams on this plan: ${count(members)}. With other numbers than the configuration: ${others}.`;
}

const SHOWN_MAX = 10;

function differences(behind: TeamsBehind['behind'], limits: TeamLimits): Html {
  const columns = ['Team', 'Number', numeric('The team has'), numeric('The plan has')];
  const rows = behind
    .slice(0, SHOWN_MAX)
    .flatMap(({ team, change }) =>
      differencesOf(change.plan === undefined ? (team.nextPlan?.limits ?? team.limits) : team.limits, limits).map(
        ({ number, held, plan }) => [
          html`<a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>`,
          numberLabel(number),
          numberText(number, held, team.limits.currency),
          numberText(number, plan, team.limits.currency),
        ],
      ),
    );
  const more = behind.length > SHOWN_MAX ? html`<p class="soft">The first ${count(SHOWN_MAX)} of them.</p>` : undefined;
  return html`${htmlTable({ caption: "Where teams differ from the plan's numbers", columns, rows })} ${more}`;
}

function teamsText(number: number): string {
  return number === 1 ? 'one team' : `${count(number)} teams`;
}
