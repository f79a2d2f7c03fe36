// lingate memory clear: has every gateway of the store drop what it remembers of translations, and clears what they share.
import type { Command } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { readId } from '../operand.ts';
import { SILENT, TEAMS_WHERE, valueOf, withAdmin } from '../with-store.ts';

export const memoryClear: Command = {
  name: 'memory clear',
  summary: 'Drops the translations that are remembered.',
  usage: '[--team TEAM]',
  about:
    'For an engine or a model that was replaced behind the same name. What gateways share in a Redis is deleted by the command; ' +
    'each gateway of the store drops its own within ten seconds, because the command leaves an entry in the audit. ' +
    'What was being translated before is not remembered.',
  flags: { team: { kind: 'text', value: 'TEAM', summary: 'only those of the team with this id', fallback: 'all teams' } },
  examples: ['lingate memory clear', 'lingate memory clear --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const team = context.text('team');
    const teamId = team === undefined ? undefined : readId('team', team, TEAMS_WHERE);
    const { forgetInPlugins } = await import('../../app/forget-team.ts');
    const forgot = await forgetInPlugins(await context.config(), SILENT, teamId);
    if (forgot.length === 0)
      throw new CommandFailure('the configuration has no plugin that remembers anything, such as lingate/plugins/memory');
    await withAdmin(context, async (admin) => {
      valueOf(await admin.clearMemory(teamId, context.io.nowMs()));
      const away = forgot.filter(({ failed }) => failed).map(({ plugin }) => plugin);
      const dropped = forgot.reduce((sum, one) => sum + (one.dropped ?? 0), 0);
      context.print({ team_id: teamId ?? null, shared_texts: dropped, ...(away.length === 0 ? {} : { away }) }, () => {
        const whose = teamId === undefined ? 'What is remembered' : `What is remembered of team ${teamId}`;
        const shared = forgot.some((one) => one.dropped !== undefined) ? `${dropped} texts that gateways share are deleted; ` : '';
        const unreached =
          away.length === 0 ? '' : ` The store of ${away.join(', ')} could not be reached: the gateways try again until it can.`;
        return `${whose} is dropped: ${shared}each gateway drops its own within ten seconds.${unreached}`;
      });
    });
  },
};
