// lingate team delete: erases a team, after its name was typed where somebody can type it.
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Team } from '../../ports/team-registry.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { readId } from '../operand.ts';
import { SILENT, TEAMS_WHERE, saying, valueOf, withAdmin } from '../with-store.ts';

export const teamDelete: Command = {
  name: 'team delete',
  summary: 'Deletes a team with all that it has.',
  usage: 'TEAM [--keep-usage] [--yes]',
  about:
    'Its keys, glossaries and history are gone from the store, and its keys are refused from their next request on, on every node. ' +
    'This cannot be undone. At a terminal the name of the team has to be typed. A deletion that was interrupted is ended by repeating it. ' +
    'Without --keep-usage it also deletes what an earlier deletion has kept.',
  operands: ['TEAM'],
  flags: {
    'keep-usage': { kind: 'switch', summary: 'keep its days and periods, without names and labels' },
    yes: { kind: 'switch', summary: 'do not ask for the name' },
  },
  examples: [
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --keep-usage',
    'lingate team delete 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --yes --json',
  ],
  async run(context) {
    const teamId = readId('team', context.operands[0]!, TEAMS_WHERE);
    const keepUsage = context.on('keep-usage');
    await withAdmin(context, async (admin) => {
      const team = await admin.showTeam(teamId);
      // One that is no team any more may have left something.
      if (team.kind === 'done' && !context.on('yes')) await confirm(context, team.value);
      const result = await admin.deleteTeam(teamId, keepUsage);
      valueOf(result);
      // Gateways that run drop what they remember by themselves; this is for what they share, should none be running.
      const { forgetInPlugins } = await import('../../app/forget-team.ts');
      for (const { plugin } of (await forgetInPlugins(await context.config(), SILENT, teamId)).filter(({ failed }) => failed)) {
        context.io.err(`lingate team delete: what plugin ${plugin} remembers of the team could not be reached; it goes when it expires\n`);
      }
      context.print({ team_id: teamId, status: 'deleted', kept_usage: keepUsage, ...replicatedMember(result) }, () =>
        saying(`Team ${teamId} is deleted${keepUsage ? '; its days and periods are kept' : ''}.`, result),
      );
    });
  },
};

/** Programs, which have no terminal, are not asked. */
async function confirm({ io }: CommandContext, { name }: Team): Promise<void> {
  const typed = await io.line(`This deletes the team ${JSON.stringify(name)} for good. Type its name to go on: `);
  if (typed !== undefined && typed !== name) throw new CommandFailure('this is not the name of the team; nothing was deleted');
}
