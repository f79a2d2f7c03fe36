// A team's page: its use, its keys, its history, and what may be done to it: a key, credit, another plan, name or reference, a
// deletion. And making a new team.
import { refusalOf } from '../../admin/admin-refusals.ts';
import type { GivenMembers } from '../../admin/input.ts';
import { createKey, KEY_FIELDS } from '../../admin/operations/keys.ts';
import type { NewKeyRow } from '../../admin/operations/key-rows.ts';
import { planReports } from '../../admin/operations/plans.ts';
import { createTeam, deleteTeam, teamUse, updateTeam } from '../../admin/operations/teams.ts';
import type { ChangedTeamRow } from '../../admin/operations/team-rows.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { anchorOf } from '../../domain/period.ts';
import { REFUSAL_CODES, usageReport } from '../../domain/usage-days.ts';
import type { RefusalCode, RefusalCounts } from '../../ports/refusal-days.ts';
import type { Team, Usage } from '../../ports/team-registry.ts';
import { CONSOLE_PREFIX, mayChange } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, PageContent, SignedInVisit } from '../console-route.ts';
import { amountField, NAME_INPUT, REASON_INPUT, selectField, textField } from '../form.ts';
import type { FieldTexts } from '../form.ts';
import { factList, windowFacts } from '../html-table.ts';
import { formFields } from '../operation-form.ts';
import { recordRoutes } from '../record-page.ts';
import type { Action } from '../record-page.ts';
import { count, day, money, usageBar } from '../shown.ts';
import { teamCredit } from '../team-credit.ts';
import { teamHistory } from '../team-history.ts';
import { findTeam, keyFields, keysTable, newKeyNotice } from '../team-keys.ts';

const idOf = (team: Team): string => team.teamId;
const notice = (value: ChangedTeamRow, _team: Team, given: GivenMembers): string => updateTeam.notice!(value, given);

const ACTIONS: readonly Action<Team>[] = [
  {
    one: createKey,
    name: 'keys',
    title: 'New key',
    submit: 'Create the key',
    fields: ['mode', ...KEY_FIELDS],
    inputs: (texts) => html`${formFields(createKey, ['mode'], texts)} ${keyFields(texts)}`,
    given: (team, sent) => ({ id: idOf(team), ...sent }),
    notice: (made: NewKeyRow) => newKeyNotice(made),
  },
  {
    one: updateTeam,
    name: 'credit',
    title: 'Add or deduct credit',
    submit: 'Change the credit',
    when: ({ limits }) => limits.billing === 'credit',
    fields: ['amount', 'reason'],
    fieldOf: { add_credit_minor: 'amount' },
    inputs: creditInputs,
    given(team, { reason }, form) {
      const sent = form('amount').trim();
      const amount = amountField(sent.replace('-', ''), team.limits.currency);
      if ('fault' in amount) return { faults: { amount: amount.fault } };
      return { id: idOf(team), add_credit_minor: sent.startsWith('-') ? -amount.value : amount.value, reason };
    },
    notice,
  },
  {
    one: updateTeam,
    name: 'plan',
    title: 'Change the plan',
    submit: 'Change the plan',
    fields: ['plan', 'when'],
    texts: (team) => (name) => (name === 'plan' ? team.plan : 'now'),
    inputs: planInputs,
    given(team, _sent, form) {
      const when = form('when') === '' ? 'now' : form('when');
      return { id: idOf(team), when, ...(when === 'never' ? {} : { plan: form('plan') }) };
    },
    notice,
  },
  {
    one: updateTeam,
    name: 'reference',
    title: 'Change the reference',
    submit: 'Change the reference',
    fields: ['reference'],
    texts:
      ({ reference }) =>
      () =>
        reference ?? '',
    given: (team, { reference = team.reference ?? null }) => ({ id: idOf(team), reference }),
    notice,
  },
  {
    one: updateTeam,
    name: 'name',
    title: 'Rename',
    submit: 'Rename',
    fields: ['name'],
    texts:
      ({ name }) =>
      () =>
        name,
    given: (team, _sent, form) => ({ id: idOf(team), name: form('name') }),
    notice,
  },
  {
    one: deleteTeam,
    name: 'delete',
    title: 'Delete the team',
    submit: 'Delete the team',
    danger: true,
    own: ({ name }) => `Delete ${name}?`,
    asking: (team) => ({ id: idOf(team) }),
    about: (team) =>
      html`<p>${calledTeam(team)}</p>
        <p>Its keys are refused at their next request, everywhere. Its glossaries, its credit and its name are deleted.</p>`,
    fields: ['usage', 'name'],
    inputs: deletionInputs,
    given(team, _sent, form) {
      const [usage, name] = [form('usage'), form('name')];
      if (usage !== 'keep' && usage !== 'delete') return { faults: { usage: 'Choose one.' } };
      if (asRead(name) !== asRead(team.name)) return { faults: { name: 'This is not the name of the team.' } };
      return { id: idOf(team), keep_usage: usage === 'keep' };
    },
    notice: (value: never) => deleteTeam.notice!(value, {}),
    to: () => '/teams',
    after: ({ teamId }, { forget }) => forget(teamId),
  },
];

function creditInputs(texts: FieldTexts, { limits: { currency } }: Team): Html {
  const hint = 'Takes effect at once. A negative amount is deducted, except what open reservations hold.';
  const reason = { hint: 'For the audit. Required to deduct credit.', more: REASON_INPUT };
  return html`${textField(texts, 'amount', `Amount in ${currency}`, { required: true, hint, more: { autocomplete: 'off' } })}
  ${textField(texts, 'reason', 'Reason', reason)}`;
}

function planInputs(texts: FieldTexts, { nextPlan }: Team, { context }: ConsoleParts): Html {
  const plans = planReports(context).map(({ name, billing }) => ({
    value: name,
    label: billing === 'credit' ? `${name} (prepaid credit)` : name,
  }));
  const times = [
    { value: 'now', label: 'at the next request' },
    { value: 'next-period', label: 'when the period ends' },
    ...(nextPlan === undefined ? [] : [{ value: 'never', label: `not: take back the change to ${nextPlan.name}` }]),
  ];
  return html`${selectField(texts, 'plan', 'Plan', plans)} ${selectField(texts, 'when', 'Effective', times)}`;
}

/** The first is chosen unless the operator says otherwise. */
const USAGE = [
  { value: 'keep', label: 'keep it, without names' },
  { value: 'delete', label: 'delete it too' },
] as const;

function deletionInputs(texts: FieldTexts, { name }: Team): Html {
  const typed = { required: true, hint: `Type ${name} to continue.`, more: NAME_INPUT };
  return html`${selectField(texts, 'usage', 'Its usage by day and period', USAGE)} ${textField(texts, 'name', 'Name of the team', typed)}`;
}

/** A browser shows consecutive white space in a name as one space. */
function asRead(name: string): string {
  return name.trim().replaceAll(/\s+/g, ' ');
}

async function page(
  forms: Html | undefined,
  { teamId }: Team,
  visit: SignedInVisit,
  parts: ConsoleParts,
): Promise<PageContent | ConsoleAnswer> {
  const found = await teamUse(parts.context, teamId);
  if (found.kind !== 'done') return refusalOf(found);
  const { usage, refusals } = found.value;
  const { team } = usage;
  const [history, credit] = await Promise.all([teamHistory(teamId, parts, visit.nowMs), teamCredit(team, parts)]);
  if ('kind' in history) return history;
  const own = `${CONSOLE_PREFIX}/teams/${teamId}`;
  const main = html`<h1>${team.name}</h1>
    <p class="soft">
      Team <code>${teamId}</code>${team.reference === undefined ? undefined : `, reference ${team.reference}`}, plan ${team.plan}, since
      ${day(team.createdAtMs)}
    </p>
    ${team.nextPlan === undefined ? undefined : html`<p>When this period ends, it gets plan ${team.nextPlan.name}.</p>`}
    <h2>This period</h2>
    ${teamFacts(usage, refusals)}
    <p class="links">
      <a href="#history">Days, months and periods</a>
      <a href="${CONSOLE_PREFIX}/requests?team=${teamId}">Refused and failed requests</a>
      <a href="${own}/tags">Tags</a>
      <a href="${CONSOLE_PREFIX}/documents?team=${teamId}">Documents<span class="unseen"> of ${team.name}</span></a>
      <a href="${own}/glossaries">Glossaries</a>
      <a href="${CONSOLE_PREFIX}/audit?team=${teamId}">Audit<span class="unseen"> of ${team.name}</span></a>
    </p>
    <h2 id="keys">Keys</h2>
    ${keysTable(usage, visit.nowMs, mayChange(visit))} ${forms} ${credit}
    <div id="history">${history}</div>`;
  return { title: team.name, section: 'teams', main, assets: ['copy.js'] };
}

function teamFacts(usage: Usage, refusals: RefusalCounts | undefined): Html {
  const { team, periodStartMs, periodEndMs, windows } = usage;
  const { limits } = team;
  const report = usageReport(usage);
  const { test_keys: free } = report;
  const charged = report.character_count - (free?.character_count ?? 0);
  const chargedTests = (report.test_character_count ?? 0) - (free?.character_count ?? 0);
  const isQuota = report.billing === 'quota';
  return factList(
    ['Period', html`${day(periodStartMs)} to ${day(periodEndMs)}${anchorOf(limits.period) === 'calendar' ? ', by the calendar' : ''}`],
    ['Characters', isQuota ? usageBar(`Characters of ${team.name}`, charged, report.character_limit) : count(charged)],
    ['Overage', isQuota ? overageText(report.overage) : undefined],
    ['Credit', isQuota ? undefined : money(report.credit.balance_minor, report.credit.currency)],
    ['Price', isQuota ? undefined : `${money(limits.minorPerMillion, limits.currency)} per million characters`],
    ['With test keys', chargedTests === 0 ? undefined : `${count(chargedTests)} of these characters`],
    ['Free for test keys', free && usageBar(`Free characters of test keys of ${team.name}`, free.character_count, free.character_limit)],
    ['Requests', `at most ${count(limits.requestsPerSecond)} a second, ${count(limits.maxCharactersPerRequest)} characters each`],
    ...windowFacts(windows, team.name),
    ['Refused', refusals && refusalsText(refusals)],
    ['Glossaries', `at most ${count(limits.maxGlossaries)}`],
  );
}

type Overage = Extract<ReturnType<typeof usageReport>, { billing: 'quota' }>['overage'];

function overageText({ character_count: characters, cost_minor: cost, cap_minor: cap, currency }: Overage): string {
  if (cap === 0) return 'none: requests are refused at the limit';
  return `${count(characters)} characters, ${money(cost, currency)} of at most ${money(cap, currency)}`;
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
  fields: ['name', 'reference', 'plan', 'credit'],
  fieldOf: { credit_minor: 'credit' },
  inputs(texts, _none, { context }) {
    const plans = planReports(context);
    const choices = plans.map(({ name, billing, currency }) => ({
      value: name,
      label: billing === 'credit' ? `${name} (prepaid credit, ${currency})` : `${name} (quota)`,
    }));
    const hint = "Only for prepaid plans, in the plan's currency. Optional.";
    const credit = { hint, more: { inputmode: 'decimal', autocomplete: 'off' } };
    return html`${formFields(createTeam, ['name', 'reference'], texts)} ${selectField(texts, 'plan', 'Plan', choices)}
    ${plans.some(({ billing }) => billing === 'credit') ? textField(texts, 'credit', 'Opening credit', credit) : undefined}`;
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
function calledTeam({ name, teamId }: Team): Html {
  return html`Team ${name}, <code>${teamId}</code>`;
}

export const TEAM_ROUTES: readonly ConsoleRoute[] = [
  // Before the page of a team, because `new` is not an id.
  ...recordRoutes<object>({ path: '/teams', find: () => Promise.resolve({}), at: () => '/teams', actions: [NEW] }),
  ...recordRoutes<Team>({
    path: '/teams/{id}',
    find: findTeam,
    at: (team) => `/teams/${idOf(team)}`,
    called: calledTeam,
    page,
    actions: ACTIONS,
  }),
];
