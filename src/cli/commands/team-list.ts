// lingate team list: all teams, in order of creation.
import { teamReport } from '../../admin/reports.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { Command } from '../command.ts';
import { teamTable } from '../team-text.ts';
import { withStore } from '../with-store.ts';

export const teamList: Command = {
  name: 'team list',
  summary: 'Lists all teams.',
  usage: '',
  flags: {},
  examples: ['lingate team list', 'lingate team list --json'],
  run: (context) =>
    withStore(context, async (store) => {
      const teams = answered(await store.teams.listTeams());
      context.print({ teams: teams.map(teamReport) }, () => teamTable(teams));
    }),
};
