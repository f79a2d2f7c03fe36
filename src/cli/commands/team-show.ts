// lingate team show: one team and the numbers it is held to.
import type { Command } from '../command.ts';
import { noSuchTeam, readId, TEAMS_WHERE } from '../operand.ts';
import { teamReport, teamText } from '../team-report.ts';
import { withStore } from '../with-store.ts';

export const teamShow: Command = {
  name: 'team show',
  summary: 'Shows a team and the numbers it is held to.',
  usage: 'TEAM',
  operands: ['TEAM'],
  flags: {},
  examples: ['lingate team show 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    await withStore(context, async ({ teams }) => {
      const team = await teams.findTeam(teamId);
      if (team === undefined) throw noSuchTeam(teamId);
      context.print(teamReport(team), () => teamText(team));
    });
  },
};
