// lingate team show: a team and its limits.
import { teamReport } from '../../admin/reports.ts';
import type { Command } from '../command.ts';
import { readId } from '../operand.ts';
import { teamText } from '../team-text.ts';
import { TEAMS_WHERE, valueOf, withAdmin } from '../with-store.ts';

export const teamShow: Command = {
  name: 'team show',
  summary: 'Shows a team and its limits.',
  usage: 'TEAM',
  operands: ['TEAM'],
  flags: {},
  examples: ['lingate team show 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withAdmin(context, async (admin) => {
      const team = valueOf(await admin.showTeam(teamId));
      context.print(teamReport(team), () => teamText(team));
    });
  },
};
