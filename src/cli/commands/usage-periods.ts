// lingate usage periods: a team's periods and the usage in each, newest first.
import { periodsReport } from '../../admin/usage-handlers.ts';
import { UsageReading } from '../../admin/usage-reading.ts';
import type { PeriodReport } from '../../domain/usage-report.ts';
import type { Command } from '../command.ts';
import { readId } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { TEAMS_WHERE, valueOf, withStore } from '../with-store.ts';

export const usagePeriods: Command = {
  name: 'usage periods',
  summary: "Shows a team's periods and the usage in each.",
  usage: 'TEAM',
  about: 'Newest first, including the current one. A closed period never changes.',
  operands: ['TEAM'],
  flags: {},
  examples: ['lingate usage periods 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withStore(context, async ({ history }) => {
      const report = periodsReport(valueOf(await new UsageReading(history).periods(teamId)));
      context.print(report, () => periodTable(report.periods));
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
