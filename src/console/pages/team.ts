// A team's page: its use, its keys, its history, and what may be done to it: a key, credit, another
// plan, name or reference, a deletion. And making a new team.
import { LIMIT_NAMES } from '../../admin/operations/key-limits.ts';
import { createKey, KEY_FIELDS } from '../../admin/operations/keys.ts';
import { teamUsage } from '../../admin/operations/periods.ts';
import { planReports } from '../../admin/operations/plans.ts';
import type { PlanReport } from '../../admin/operations/plans.ts';
import { createTeam, deleteTeam, refusalsIn } from '../../admin/operations/teams.ts';
import { updateTeam } from '../../admin/operations/team-changes.ts';
import type { ChangedTeamRow } from '../../admin/operations/teams.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { anchorOf } from '../../domain/period.ts';
import { REFUSAL_CODES, usageReport } from '../../domain/usage-days.ts';
import type { RefusalCode, RefusalCounts } from '../../ports/usage-history.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX } from '../console-route.ts';
import type { ConsoleRoute, PageContent, SignedInVisit } from '../console-route.ts';
import { amountField } from '../form.ts';
import type { Field } from '../form.ts';
import { factList, recordFacts } from '../cells.ts';
import { memberField } from '../operation-form.ts';
import type { Action } from '../record-page.ts';
import { count, day, money } from '../shown.ts';
import { teamCredit, teamDays, teamPeriods } from '../team-history.ts';
import { findUsage, keysTable, newKeyNotice } from '../team-keys.ts';
import { recordRoutes } from '../record-page.ts';

const ACTIONS: readonly Action<Usage>[] = [
  {
    one: createKey,
    name: 'keys',
    title: 'New key',
    submit: 'Create the key',
    fields: ['mode', ...KEY_FIELDS],
    folded: LIMIT_NAMES,
    notice: newKeyNotice,
  },
  {
    one: updateTeam,
    name: 'credit',
    title: 'Add or deduct credit',
    submit: 'Change the credit',
    when: ({ team }) => team.limits.billing === 'credit',
    fields: ({ team }) => [
      {
        name: 'amount',
        of: 'add_credit_minor',
        label: `Amount in ${team.limits.currency}`,
        hint: 'Takes effect at once. A negative amount is deducted, except what open reservations hold.',
        required: true,
        attributes: { autocomplete: 'off' },
      },
      { ...memberField(updateTeam, 'reason'), hint: 'For the audit. Required to deduct credit.' },
    ],
    given({ team }, { reason }, form) {
      const sent = form('amount').trim();
      const amount = amountField(sent.replace('-', ''), team.limits.currency);
      if ('fault' in amount) return { faults: { amount: amount.fault } };
      return { add_credit_minor: sent.startsWith('-') ? -amount.value : amount.value, reason };
    },
  },
  {
    one: updateTeam,
    name: 'plan',
    title: 'Change the plan',
    fields: ({ team }, { context }) => [planField(planReports(context)), whenField(team)],
    texts: ({ team }) => ({ plan: team.plan, when: 'now' }),
    given(_found, _sent, form) {
      const when = form('when') === '' ? 'now' : form('when');
      return { when, ...(when === 'never' ? {} : { plan: form('plan') }) };
    },
  },
  {
    one: updateTeam,
    name: 'reference',
    title: 'Change the reference',
    fields: ['reference'],
    texts: ({ team: { reference = '' } }) => ({ reference }),
    given: ({ team }, { reference = team.reference ?? null }) => ({ reference }),
  },
  {
    one: updateTeam,
    name: 'name',
    title: 'Rename',
    fields: ['name'],
    texts: ({ team: { name } }) => ({ name }),
    given: (_found, _sent, form) => ({ name: form('name') }),
  },
  {
    one: deleteTeam,
    name: 'delete',
    title: 'Delete the team',
    danger: true,
    own: ({ team }) => `Delete ${team.name}?`,
    about: (found) =>
      html`<p>${calledTeam(found)}</p>
        <p>Its keys are refused at their next request, everywhere. Its glossaries, its credit and its name are deleted.</p>`,
    fields: ({ team: { name } }) => [
      { name: 'usage', label: 'Its usage by day and period', choices: USAGE },
      { ...memberField(updateTeam, 'name'), label: 'Name of the team', hint: `Type ${name} to continue.`, required: true },
    ],
    given({ team }, _sent, form) {
      const [usage, name] = [form('usage'), form('name')];
      if (usage !== 'keep' && usage !== 'delete') return { faults: { usage: 'Choose one.' } };
      if (asRead(name) !== asRead(team.name)) return { faults: { name: 'This is not the name of the team.' } };
      return { keep_usage: usage === 'keep' };
    },
    to: () => '/teams',
    after: ({ team }, { forget }) => forget(team.teamId),
  },
];

function planField(plans: readonly PlanReport[]): Field {
  const choices = plans.map(({ name, billing, currency }) => ({
    value: name,
    label: billing === 'credit' ? `${name} (prepaid credit, ${currency})` : name,
  }));
  return { name: 'plan', label: 'Plan', choices };
}

function whenField({ nextPlan }: Team): Field {
  const choices = [
    { value: 'now', label: 'at the next request' },
    { value: 'next-period', label: 'when the period ends' },
    ...(nextPlan === undefined ? [] : [{ value: 'never', label: `not: take back the change to ${nextPlan.name}` }]),
  ];
  return { name: 'when', label: 'Effective', choices };
}

/** The first is chosen unless the operator says otherwise. */
const USAGE = [
  { value: 'keep', label: 'keep it, without names' },
  { value: 'delete', label: 'delete it too' },
] as const;

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}

async function page(forms: Html | undefined, usage: Usage, visit: SignedInVisit): Promise<PageContent> {
  const { team } = usage;
  const { teamId } = team;
  const [refusals, days, periods, credit] = await Promise.all([
    refusalsIn(visit.context, usage),
    teamDays(teamId, visit),
    teamPeriods(teamId, visit),
    teamCredit(team, visit),
  ]);
  const own = `${CONSOLE_PREFIX}/teams/${teamId}`;
  const main = html`<h1>${team.name}</h1>
    <p class="soft">
      Team <code>${teamId}</code>${team.reference === undefined ? undefined : `, reference ${team.reference}`}, plan ${team.plan}, since
      ${day(team.createdAtMs)}
    </p>
    ${team.nextPlan === undefined ? undefined : html`<p>When this period ends, it gets plan ${team.nextPlan.name}.</p>`}
    <h2>This period</h2>
    ${teamFacts(usage, refusals, visit.nowMs)}
    <p class="links">
      <a href="#keys">Keys</a>
      <a href="#periods">Periods</a>
      <a href="${CONSOLE_PREFIX}/requests?team=${teamId}">Refused and failed requests</a>
      <a href="${own}/tags">Tags</a>
      <a href="${CONSOLE_PREFIX}/documents?team=${teamId}">Documents<span class="unseen"> of ${team.name}</span></a>
      <a href="${own}/glossaries">Glossaries</a>
      <a href="${CONSOLE_PREFIX}/audit?team=${teamId}">Audit<span class="unseen"> of ${team.name}</span></a>
    </p>
    ${days}
    <h2 id="keys">Keys</h2>
    ${await keysTable(usage, visit)} ${forms} ${credit} ${periods}`;
  return { title: team.name, section: 'teams', main, assets: ['copy.js'] };
}

function teamFacts(usage: Usage, refusals: RefusalCounts | undefined, nowMs: number): Html {
  const { team, periodStartMs, periodEndMs } = usage;
  const { limits } = team;
  const { team: _team, plan: _plan, period: _period, ...used } = teamUsage.facts!(usageReport(usage));
  return factList(
    ['Period', html`${day(periodStartMs)} to ${day(periodEndMs)}${anchorOf(limits.period) === 'calendar' ? ', by the calendar' : ''}`],
    ...recordFacts(used, nowMs),
    ['Price', limits.billing === 'quota' ? undefined : `${money(limits.minorPerMillion, limits.currency)} per million characters`],
    ['Requests', `at most ${count(limits.requestsPerSecond)} a second, ${count(limits.maxCharactersPerRequest)} characters each`],
    ['Refused', refusals && refusalsText(refusals)],
    ['Glossaries', `at most ${count(limits.maxGlossaries)}`],
  );
}

const REFUSALS: Readonly<Record<RefusalCode, string>> = {
  rate_limited: 'over a rate (429)',
  quota_exceeded: 'over a quota (402)',
  credit_exhausted: 'for lack of credit (402)',
};

/** Only codes that occurred. */
function refusalsText(refusals: RefusalCounts): string {
  const some = REFUSAL_CODES.filter((code) => refusals[code] > 0).map((code) => `${count(refusals[code])} ${REFUSALS[code]}`);
  return some.length === 0 ? 'no requests' : some.join(', ');
}

const NEW: Action<object> = {
  one: createTeam,
  name: '',
  title: 'New team',
  submit: 'Create the team',
  own: () => 'New team',
  ownPath: '/teams/new',
  fields(_none, { context }) {
    const plans = planReports(context);
    const credit = {
      name: 'credit',
      of: 'credit_minor',
      label: 'Opening credit',
      hint: "Only for prepaid plans, in the plan's currency. Optional.",
      attributes: { inputmode: 'decimal', autocomplete: 'off' },
    };
    return ['name', 'reference', planField(plans), ...(plans.some(({ billing }) => billing === 'credit') ? [credit] : [])];
  },
  given(_none, { reference }, form, { context }) {
    const plan = planReports(context).find((one) => one.name === form('plan'));
    const credit = form('credit').trim() === '' || plan === undefined ? { value: undefined } : amountField(form('credit'), plan.currency);
    if ('fault' in credit) return { faults: { credit: credit.fault } };
    return { name: form('name'), reference, plan: form('plan'), credit_minor: credit.value };
  },
  notice: ({ name }: ChangedTeamRow) => `Team ${name} has been created. Create its first key below.`,
  to: ({ team_id: id }: ChangedTeamRow) => `/teams/${id}`,
};

/** Names need not differ. */
function calledTeam({ team: { name, teamId } }: Usage): Html {
  return html`Team ${name}, <code>${teamId}</code>`;
}

export const TEAM_ROUTES: readonly ConsoleRoute[] = [
  // Before the page of a team, because `new` is not an id.
  ...recordRoutes<object>({ path: '/teams', find: () => Promise.resolve({}), at: () => '/teams', ids: () => ({}), actions: [NEW] }),
  ...recordRoutes<Usage>({
    path: '/teams/{id}',
    find: findUsage,
    at: ({ team }) => `/teams/${team.teamId}`,
    ids: ({ team }) => ({ id: team.teamId }),
    called: calledTeam,
    page,
    actions: ACTIONS,
  }),
];
