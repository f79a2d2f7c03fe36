// lingate memory clear: clears the caches of translations of every gateway on the store, and the one that they share.
import { auditClearedMemory } from '../../admin/audit-entries.ts';
import type { Command } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { confirm, givenTeam, requireConfirmable, YES } from '../asked.ts';
import { withAdmin } from '../with-store.ts';

export const memoryClear: Command = {
  about:
    'Use it after an engine or a model was replaced under the same name. The command clears the cache that gateways share in a Redis; ' +
    'each gateway on the store clears its own within ten seconds, because the command leaves an entry in the audit. ' +
    'Translations that are in progress at that moment are not cached. Without --team it asks first, because every text is then ' +
    'translated, and paid for, once more.',
  flags: { team: { kind: 'text', value: 'TEAM', summary: 'only those of the team with this id', fallback: 'all teams' }, yes: YES },
  examples: ['lingate memory clear', 'lingate memory clear --yes --json', 'lingate memory clear --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = givenTeam(context);
    if (teamId === undefined) {
      requireConfirmable(context, 'clearing the cache of all teams');
      await confirm(context, { does: 'This deletes the cached translations of all teams.', word: 'clear', wordIs: 'clear' });
    }
    const { forgetInPlugins } = await import('../../app/forget-team.ts');
    const forgot = await forgetInPlugins(await context.config(), teamId);
    if (forgot.length === 0)
      throw new CommandFailure('the configuration has no plugin that caches translations, such as lingate/plugins/memory');
    await withAdmin(context, async (on) => {
      await auditClearedMemory(on, teamId, context.io.nowMs());
      const away = forgot.filter(({ failed }) => failed).map(({ plugin }) => plugin);
      const dropped = forgot.reduce((sum, one) => sum + (one.dropped ?? 0), 0);
      context.print({ team_id: teamId ?? null, shared_texts: dropped, ...(away.length === 0 ? {} : { away }) }, () => {
        const whose = teamId === undefined ? 'All cached translations' : `All cached translations of team ${teamId}`;
        const shared = forgot.some((one) => one.dropped !== undefined) ? `${dropped} shared ones have been deleted; ` : '';
        const unreached =
          away.length === 0 ? '' : ` The store of ${away.join(', ')} could not be reached: the gateways try again until they reach it.`;
        return `${whose} are being deleted: ${shared}each gateway clears its own cache within ten seconds.${unreached}`;
      });
    });
  },
};
