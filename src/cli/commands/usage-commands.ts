// lingate usage and usage periods: a team's usage in its current period, as its callers see it, and in all of its periods.
import { periodReport } from '../../admin/reports.ts';
import type { PeriodReport } from '../../admin/reports.ts';
import type { UsageReport } from '../../domain/usage-report.ts';
import type { Usage } from '../../ports/team-registry.ts';
import type { Command } from '../command.ts';
import { usedText } from '../operation-command.ts';
import { teamOperand } from '../operand.ts';
import { labelled, textTable } from '../text-table.ts';
import { valueOf, withAdmin, withStore } from '../with-store.ts';

export const usage: Command = {
  usage: 'TEAM',
  about: 'With --json, exactly what GET /v1/usage answers. Includes only settled requests, not those in progress.',
  operands: ['TEAM'],
  examples: ['lingate usage 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = teamOperand(context);
    await withAdmin(context, async (admin) => {
      const { figures, report } = valueOf(await admin.usage(teamId));
      context.print(report, () => `${summary(report)}\n\n${keys(figures, context.io.nowMs())}`);
    });
  },
};

function summary(report: UsageReport): string {
  const base = {
    team: report.team_id,
    plan: `${report.plan} (${report.billing}, ${report.requests_per_second} requests per second)`,
    period: `${report.period_start} to ${report.period_end}`,
  };
  const { test_character_count: ofTests = 0, test_keys: free, limits = [] } = report;
  const tests = {
    ...(ofTests === 0 ? {} : { 'with test keys': ofTests }),
    ...(free === undefined ? {} : { 'of these free': `${free.character_count} of ${free.character_limit}` }),
  };
  const used = Object.fromEntries(limits.map((one) => [`this ${one.per}`, windowText(one)]));
  if (report.billing === 'credit') {
    const { balance_minor: balance, currency } = report.credit;
    return labelled({ ...base, characters: report.character_count, ...tests, ...used, balance: `${balance} minor units of ${currency}` });
  }
  const characters = `${report.character_count} of ${report.character_limit}`;
  return labelled({ ...base, characters, ...tests, ...used, overage: overageText(report.overage) });
}

function windowText({
  requests,
  used_requests,
  characters,
  used_characters,
  resets_at,
}: NonNullable<UsageReport['limits']>[number]): string {
  const parts = [
    requests === undefined ? '' : `${used_requests} of ${requests} requests`,
    characters === undefined ? '' : `${used_characters} of ${characters} characters`,
  ];
  return `${parts.filter((part) => part !== '').join(', ')}, until ${resets_at}`;
}

function keys(figures: Usage, nowMs: number): string {
  if (figures.keys.length === 0) return 'This team has no keys yet.';
  const rows = figures.keys.map((key) => [
    key.display,
    key.label || '-',
    key.mode,
    key.status,
    String(key.characters),
    String(key.requests),
    usedText(key.lastUsedAtMs, nowMs),
  ]);
  return textTable(['KEY BEGINS WITH', 'LABEL', 'MODE', 'STATUS', 'CHARACTERS', 'REQUESTS', 'LAST USED'], rows);
}

export const usagePeriods: Command = {
  usage: 'TEAM',
  about: 'Newest first, including the current one. A closed period never changes.',
  operands: ['TEAM'],
  examples: ['lingate usage periods 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = teamOperand(context);
    await withStore(context, async ({ history }) => {
      const { UsageReading } = await import('../../admin/usage-reading.ts');
      const periods = valueOf(await new UsageReading(history).periods(teamId)).map(periodReport);
      context.print({ periods }, () => periodTable(periods));
    });
  },
};

function periodTable(periods: readonly PeriodReport[]): string {
  if (periods.length === 0) return 'This team has no usage yet.';
  const rows = periods.map((period) => [
    period.period_start,
    period.period_end,
    period.closed ? 'closed' : 'open',
    period.plan,
    period.billing,
    String(period.character_count),
    period.character_limit === undefined ? '-' : String(period.character_limit),
    overageText(period.overage),
  ]);
  return textTable(['FROM', 'TO', 'STATE', 'PLAN', 'BILLING', 'CHARACTERS', 'INCLUDED', 'OVERAGE'], rows);
}

function overageText(overage: PeriodReport['overage']): string {
  if (overage === undefined) return '-';
  return `${overage.character_count} characters, ${overage.cost_minor} of ${overage.cap_minor} minor units of ${overage.currency}`;
}
