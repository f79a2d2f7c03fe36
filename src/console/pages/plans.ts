// The plans of the configuration with their numbers, and the progress of applying one.
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import type { PlanReport } from '../../admin/reports.ts';
import { periodRule } from '../../domain/period-rule.ts';
import { ago, count, money, periodText } from '../shown.ts';
import type { Application } from '../plan-applications.ts';
import { CONSOLE_PREFIX, get, pageAnswer } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit } from '../console-route.ts';
import { htmlTable } from '../html-table.ts';

export const PLANS_ROUTES: readonly ConsoleRoute[] = [get('/plans', plansPage)];

function plansPage({ nowMs }: SignedInVisit, { operations, applications }: ConsoleParts): ConsoleAnswer {
  const columns = [
    { label: 'Plan' },
    { label: 'Characters' },
    { label: 'Beyond that' },
    { label: 'Requests per second', figures: true },
    { label: 'Longest request', figures: true },
    { label: 'Glossaries', figures: true },
    { label: 'Its teams' },
  ];
  const rows = operations
    .listPlans()
    .map((plan) => [
      plan.name,
      ...billing(plan),
      count(plan.requests_per_second),
      `${count(plan.max_characters_per_request)} characters`,
      count(plan.max_glossaries),
      html`${standing(applications.of(plan.name), nowMs)}
        <a href="${CONSOLE_PREFIX}/plans/${plan.name}/apply">Compare<span class="unseen"> plan ${plan.name} with its teams</span></a>`,
    ]);
  const main = html`<h1>Plans</h1>
    <p>
      From the configuration. Each team has its own copy of its plan's numbers. After a change here, compare the plan, and apply it to its
      teams.
    </p>
    ${htmlTable({ caption: 'The plans of the configuration', columns, rows })}`;
  return pageAnswer({ title: 'Plans', section: 'plans', main });
}

/** What is included, and the price beyond that. */
function billing(plan: PlanReport): [included: Html | string, beyond: Html | string] {
  const price = (minor: number): string => `${money(minor, plan.currency)} per million`;
  if (plan.billing === 'credit') return [`${price(plan.credit_minor_per_million)}, prepaid`, 'nothing without credit'];
  const included = `${count(plan.characters)} ${periodText(periodRule(plan.period, plan.period_anchor))}`;
  if (plan.overage_cap_minor === 0) return [included, 'nothing'];
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
