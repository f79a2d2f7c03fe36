// lingate team delete: deletes a team; at a terminal, only after its name was typed.
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Team } from '../../ports/team-registry.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { readId } from '../operand.ts';
import { SILENT, TEAMS_WHERE, saying, valueOf, withAdmin } from '../with-store.ts';

export const teamDelete: Command = {
  name: 'team delete',
  summary: 'Deletes a team with all its data.',
  usage: 'TEAM [--keep-usage] [--yes]',
  about:
    'Deletes its keys, glossaries and history from the store; its keys are refused at their next request, on every node. ' +
    'This cannot be undone. At a terminal you must type the name of the team. If a deletion was interrupted, repeat it. ' +
    'Without --keep-usage it also deletes the usage that an earlier deletion kept.',
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
      // A team that is already deleted may have left data behind.
      if (team.kind === 'done' && !context.on('yes')) await confirm(context, team.value);
      const result = await admin.deleteTeam(teamId, keepUsage);
      valueOf(result);
      // Running gateways clear their caches themselves; this clears the shared one in case none is running.
      const { forgetInPlugins } = await import('../../app/forget-team.ts');
      for (const { plugin } of (await forgetInPlugins(await context.config(), SILENT, teamId)).filter(({ failed }) => failed)) {
        context.io.err(
          `lingate team delete: the data that plugin ${plugin} stores of the team could not be reached; it is deleted when it expires\n`,
        );
      }
      context.print({ team_id: teamId, status: 'deleted', kept_usage: keepUsage, ...replicatedMember(result) }, () =>
        saying(`Team ${teamId} is deleted${keepUsage ? '; its days and periods are kept' : ''}.`, result),
      );
    });
  },
};

/** Programs, which have no terminal, are not asked. */
async function confirm({ io }: CommandContext, { name }: Team): Promise<void> {
  const typed = await io.line(`This deletes the team ${JSON.stringify(name)} permanently. Type its name to continue: `);
  if (typed !== undefined && typed !== name) throw new CommandFailure('this is not the name of the team; nothing was deleted');
}
