// The plans of the configuration with their numbers, and applying one: first the question, with the
// teams that have other numbers.
import { detailOf } from '../../admin/input.ts';
import type { Done } from '../../admin/operation.ts';
import { applyPlan, comparedPlan, OutdatedPlanError, planReports, questionOfPlan } from '../../admin/operations/plans.ts';
import type { PlanAppliedRow, PlanReport } from '../../admin/operations/plans.ts';
import { costlierText, heldBefore, missingPlans, missingPlanText, numberChanges } from '../../admin/plan-change.ts';
import type { ComparedPlan } from '../../admin/plan-change.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { periodRule } from '../../domain/period.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import { windowTexts, writtenWindows } from '../../domain/window-limits.ts';
import { audit, changedAnswer, CONSOLE_PREFIX, get, mayChange, pageAnswer, post } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { hiddenField, postForm } from '../form.ts';
import { htmlTable, numeric } from '../cells.ts';
import type { Application } from '../plan-applications.ts';
import { ago, count, money, numberText, periodText, teamsText } from '../shown.ts';

const APPLY = '/plans/{name}/apply';
export const PLANS_ROUTES: readonly ConsoleRoute[] = [get('/plans', plansPage), get(APPLY, (visit) => question(visit)), post(APPLY, apply)];

const LIMITS = [numeric('Requests per second'), numeric('Longest request'), numeric('Glossaries'), 'Limits'];

async function plansPage({ nowMs, context, applications }: SignedInVisit): Promise<ConsoleAnswer> {
  const { teams, plans } = context.options;
  const found = await missingPlans(teams, plans());
  // A store that is away is shown on the overview.
  const missing = isUnavailable(found) ? [] : found.missing;
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
  const columns = ['Plan', 'Included characters', 'Overage', ...LIMITS, 'Its teams'];
  const main = html`<h1>Plans</h1>
    <p>
      From the configuration. Each team has its own copy of its plan's numbers. After a change here, compare the plan, and apply it to its
      teams.
    </p>
    ${missing.map((one) => html`<p><span class="fault">${missingPlanText(one)}</span></p>`)}
    ${htmlTable({ caption: 'The plans of the configuration', columns, rows })}`;
  return pageAnswer({ title: 'Plans', section: 'plans', main });
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
  if (application === undefined) return undefined;
  const { behind, changed, endedAtMs, made, refused } = application;
  if (endedAtMs === undefined) {
    return html`${behind === 0 ? 'being applied' : `${count(changed)} of ${count(behind)} changed`},
      <a href="${CONSOLE_PREFIX}/plans">check again</a><br />`;
  }
  const when = ago(endedAtMs, nowMs);
  if (made !== undefined) return html`applied ${when}: ${count(made.value.changed)} of ${count(made.value.teams)} changed<br />`;
  const why = refused === undefined ? 'the store was away' : detailOf({ ...refused.refusal, field: undefined });
  return html`<span class="fault">stopped ${when} after ${teamsText(changed)}: ${why}</span><br />`;
}

async function question(visit: SignedInVisit, outdated?: ComparedPlan): Promise<ConsoleAnswer> {
  const name = visit.parameters['name'] ?? '';
  const compared = outdated ?? (await comparedPlan(visit.context, name));
  const { plan, members, behind, costlier } = compared;
  const asks = mayChange(visit) && behind.length > 0;
  const title = asks ? `Apply plan ${name}?` : `Plan ${name}`;
  const others = `With other numbers than the configuration: ${behind.length === 0 ? 'none' : count(behind.length)}.`;
  const form = postForm({
    action: `/plans/${name}/apply`,
    formToken: visit.formToken,
    fields: html`${hiddenField('agreed', questionOfPlan(compared).mark!)}
      <p>The plan's numbers take effect at the next request of each of these teams. Their old numbers are not kept.</p>`,
    submit: `Apply to ${teamsText(behind.length)}`,
    danger: costlier.refused > 0,
    cancel: '/plans',
  });
  const main = html`<h1>${title}</h1>
    ${outdated && CHANGED_SINCE}
    <p>${members === 0 ? 'No team is on this plan.' : `Teams on this plan: ${count(members)}. ${others}`}</p>
    ${costlier.teams === 0 ? undefined : html`<p class="warning">This ${costlierText(costlier, plan.limits.currency)}.</p>`}
    ${behind.length === 0 ? undefined : differences(compared)}
    ${asks ? form : html`<p><a href="${CONSOLE_PREFIX}/plans">Back to the plans</a></p>`}`;
  return pageAnswer({ title, section: 'plans', main });
}

const CHANGED_SINCE = html`<p class="warning">Nothing was applied: what applying the plan does has changed since it was shown.</p>`;

/** Applies only what the operator has seen: if that has changed since, it is shown again. */
async function apply(visit: SignedInVisit): Promise<ConsoleAnswer> {
  const plan = visit.parameters['name'] ?? '';
  const agreed = visit.form('agreed');
  const see = (text: string, replicated?: boolean): ConsoleAnswer =>
    changedAnswer('/plans', html`<p>Plan ${plan}${text}</p>`, { replicated });
  try {
    const { changed, endedAtMs, made } = await visit.applications.start(plan, async (onProgress) => {
      const applied = (await applyPlan.run!(visit.context, { name: plan }, { onProgress, agreed })) as Done<PlanAppliedRow>;
      audit(visit, applyPlan.id, applied.audit!);
      return applied;
    });
    if (endedAtMs === undefined) return see(' is being applied; its progress is shown below.');
    if (made === undefined) return see(`: the store stopped answering after ${teamsText(changed)}. Apply it again to continue.`);
    return see(`: ${teamsText(made.value.changed)} changed, of ${count(made.value.teams)} on it.`, made.replicated);
  } catch (error) {
    if (error instanceof OutdatedPlanError) return question(visit, error.compared);
    throw error;
  }
}

const SHOWN_MAX = 10;

function differences({ plan: { limits }, behind }: ComparedPlan): Html {
  const columns = ['Team', 'Number', numeric('The team has'), numeric('The plan has')];
  const rows = behind.slice(0, SHOWN_MAX).flatMap(({ team, change }) => {
    const held = heldBefore(team, change);
    return numberChanges(held, limits).map(({ number, from, to }) => [
      html`<a href="${CONSOLE_PREFIX}/teams/${team.teamId}">${team.name}</a>`,
      number.replaceAll('_', ' '),
      numberText(number, from, held.currency),
      numberText(number, to, limits.currency),
    ]);
  });
  const more = behind.length > SHOWN_MAX ? html`<p class="soft">The first ${count(SHOWN_MAX)} of them.</p>` : undefined;
  return html`${htmlTable({ caption: "Where teams differ from the plan's numbers", columns, rows })} ${more}`;
}
