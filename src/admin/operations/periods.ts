// What a team has used: in its running period, as its callers see it, and in all of its periods.
import type { Static } from 'typebox';
import { TestKeysAnswer } from '../../domain/answers.ts';
import { amountText } from '../../domain/money.ts';
import { rfc3339 } from '../../domain/period.ts';
import { Type } from '../../domain/typebox.ts';
import { overageOf, testKeysOf, usageReport } from '../../domain/usage-days.ts';
import type { UsageReport } from '../../domain/usage-days.ts';
import { COUNTED } from '../../domain/window-limits.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { moment, teamId, whole } from '../fields.ts';
import { found, operation } from '../operation.ts';
import type { Cell } from '../operation.ts';

const TEAM = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';

type Overage = Pick<Extract<UsageReport, { billing: 'quota' }>['overage'], 'character_count' | 'cost_minor' | 'cap_minor' | 'currency'>;

function overageText({ character_count: characters, cost_minor: cost, cap_minor: cap, currency }: Overage): string {
  if (cap === 0) return 'none: requests are refused at the limit';
  const amount = (minor: number): string => `${amountText(minor, currency)} ${currency}`;
  return `${characters.toLocaleString('en')} characters, ${amount(cost)} of at most ${amount(cap)}`;
}

/** What is used of limits by minute to month, by names such as `requests per minute`. */
export function windowShares({ limits = [] }: Pick<UsageReport, 'limits'>, whose: string): Readonly<Record<string, Cell>> {
  const shares = limits.flatMap(({ per, resets_at: until, ...limit }) =>
    COUNTED.flatMap((counted) => {
      const [most, used = 0, name] = [limit[counted], limit[`used_${counted}`], `${counted} per ${per}`];
      return most === undefined ? [] : [[name, { kind: 'share', what: `${name} of ${whose}`, used, of: most, until }] as const];
    }),
  );
  return Object.fromEntries(shares);
}

export const teamUsage = operation({
  id: 'teamUsage',
  command: 'usage',
  http: 'GET /teams/{id}/usage',
  summary: "Shows a team's usage in its current period, like GET /v1/usage.",
  about: 'With --json it prints what GET /v1/usage answers. Requests in progress are not included.',
  examples: [`lingate usage ${TEAM}`],
  input: { id: teamId },
  row: Type.Object({}),
  facts(row) {
    const report = row as UsageReport;
    const { test_character_count: ofTests = 0, test_keys: free, character_count: characters } = report;
    const isQuota = report.billing === 'quota';
    const charged = characters - (free?.character_count ?? 0);
    const chargedTests = ofTests - (free?.character_count ?? 0);
    const share = (what: string, used: number, of: number): Cell => ({ kind: 'share', what, used, of });
    return {
      team: report.team_id,
      plan: `${report.plan} (${report.billing}, ${report.requests_per_second} requests per second)`,
      period: `${report.period_start} to ${report.period_end}`,
      characters: isQuota ? share('Characters of the team', charged, report.character_limit) : charged,
      ...(isQuota
        ? { overage: overageText(report.overage) }
        : { credit: { kind: 'money', minor: report.credit.balance_minor, currency: report.credit.currency } }),
      ...(chargedTests > 0 && { 'with test keys': `${chargedTests} of these characters` }),
      ...(free && { 'free for test keys': share('Free characters of test keys', free.character_count, free.character_limit) }),
      ...windowShares(report, 'the team'),
    };
  },
  below: {
    heads: ['Key begins with', 'Label', 'Mode', 'Characters', 'Requests', 'Last used'],
    rows: (row) =>
      (row as UsageReport).keys.map((key) => [
        key.display,
        key.label || undefined,
        key.mode,
        key.character_count,
        key.request_count,
        { kind: 'ago', at: key.last_used_at },
      ]),
    none: 'This team has no keys yet.',
  },
  async run({ options: { teams } }, { id }) {
    return usageReport(found(await teams.usage(id), 'team', id));
  },
});

const Period = Type.Object({
  period_start: moment,
  period_end: moment,
  closed: Type.Boolean({ description: 'Whether it has ended and has no open reservations: then it never changes.' }),
  plan: Type.String({ description: 'The plan at the end of the period.' }),
  billing: Type.Enum(['quota', 'credit'], { type: 'string' }),
  character_count: whole,
  test_character_count: Type.Integer({ minimum: 0, description: 'The part of `character_count` that keys of mode `test` used.' }),
  test_keys: Type.Optional(TestKeysAnswer),
  character_limit: Type.Optional(whole),
  overage: Type.Optional(
    Type.Object(
      { character_count: whole, cost_minor: whole, cap_minor: whole, currency: Type.String() },
      { description: 'Only with quota billing, like character_limit; as in GET /v1/usage.' },
    ),
  ),
});
type PeriodRow = Static<typeof Period>;

/** Based on the last plan that applied in the period. */
export function periodReport(period: Omit<PeriodUse, 'number'>): PeriodRow {
  const { startMs, endMs, closed: isClosed, plan, limits, characters, allowanceUsed, testCharacters } = period;
  const { billing } = limits;
  const base = { period_start: rfc3339(startMs), period_end: rfc3339(endMs), closed: isClosed, plan, billing };
  const counts = { ...base, character_count: characters, test_character_count: testCharacters, ...testKeysOf(limits, allowanceUsed) };
  if (billing === 'credit') return counts;
  return { ...counts, character_limit: limits.characterLimit, overage: overageOf(characters - allowanceUsed, limits) };
}

export const listPeriods = operation({
  id: 'listPeriods',
  command: 'usage periods',
  http: 'GET /teams/{id}/periods',
  summary: "Shows a team's periods and the usage in each, newest first, including the current one.",
  about: 'A closed period never changes.',
  examples: [`lingate usage periods ${TEAM}`],
  input: { id: teamId },
  row: Period,
  list: 'periods',
  columns: [
    { head: 'From', cell: (row) => ({ kind: 'day', at: row.period_start }) },
    { head: 'To', cell: (row) => ({ kind: 'day', at: row.period_end }) },
    { head: 'State', cell: (row) => (row.closed ? 'closed' : 'open') },
    { head: 'Plan', cell: (row) => row.plan },
    { head: 'Billing', cell: (row) => row.billing, only: 'command' },
    { head: 'Characters', cell: (row) => row.character_count, holds: 'figures' },
    { head: 'Included', cell: (row) => row.character_limit, holds: 'figures' },
    { head: 'Overage', cell: (row) => row.overage?.character_count, holds: 'figures' },
    {
      head: 'Cost of overage',
      cell: ({ overage }) => overage && { kind: 'money', minor: overage.cost_minor, currency: overage.currency },
      holds: 'figures',
    },
  ],
  none: 'This team has no usage yet.',
  async run(context, { id }) {
    return found(await context.part('history').periods(id), 'team', id).map(periodReport);
  },
});

export const operations = [teamUsage, listPeriods];
