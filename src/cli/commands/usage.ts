// lingate usage: a team's usage in its current period, as its callers see it.
import type { UsageReport } from '../../domain/usage-report.ts';
import type { Usage } from '../../ports/team-registry.ts';
import type { Command } from '../command.ts';
import { lastUse } from './key-list.ts';
import { readId } from '../operand.ts';
import { labelled, textTable } from '../text-table.ts';
import { TEAMS_WHERE, valueOf, withAdmin } from '../with-store.ts';

export const usage: Command = {
  name: 'usage',
  summary: "Shows a team's usage in its current period.",
  usage: 'TEAM',
  about: 'With --json, exactly what GET /v1/usage answers. Includes only settled requests, not those in progress.',
  operands: ['TEAM'],
  flags: {},
  examples: ['lingate usage 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withAdmin(context, async (admin) => {
      const { figures, report } = valueOf(await admin.usage(teamId));
      context.print(report, () => `${summary(report)}\n\n${keys(figures, context.io.nowMs())}`);
    });
  },
};

function summary(report: UsageReport): string {
  const base = { team: report.team_id, plan: `${report.plan} (${report.billing}, ${report.requests_per_second} requests per second)` };
  const period = { period: `${report.period_start} to ${report.period_end}` };
  if (report.billing === 'credit') {
    const { balance_minor: balance, currency } = report.credit;
    return labelled({ ...base, ...period, characters: report.character_count, balance: `${balance} minor units of ${currency}` });
  }
  const { overage } = report;
  return labelled({
    ...base,
    ...period,
    characters: `${report.character_count} of ${report.character_limit}`,
    overage: `${overage.character_count} characters, ${overage.cost_minor} of ${overage.cap_minor} minor units of ${overage.currency}`,
  });
}

function keys(figures: Usage, nowMs: number): string {
  if (figures.keys.length === 0) return 'This team has no keys yet.';
  const rows = figures.keys.map((key) => [
    key.display,
    key.label === '' ? '-' : key.label,
    key.mode,
    key.status,
    String(key.characters),
    String(key.requests),
    lastUse(key.lastUsedAtMs, nowMs),
  ]);
  return textTable(['KEY BEGINS WITH', 'LABEL', 'MODE', 'STATUS', 'CHARACTERS', 'REQUESTS', 'LAST USED'], rows);
}
