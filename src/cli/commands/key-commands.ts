// lingate key revoke, also by a whole key or of all keys of a team; and lingate memory clear.
import { findKeys, foundKeys, revokeAll, revokedKey } from '../../admin/operations/keys.ts';
import { found } from '../../admin/operation.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirm, givenTeam, readId, readKey, requireConfirmable, YES } from '../asked.ts';
import { awayOf, forgetInPlugins, printChange, withAdmin } from '../with-store.ts';
import { auditClearedMemory } from '../../admin/audit-entries.ts';

const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'Revokes a key: its next request is refused.',
  usage: 'KEY_ID | --stdin | --all --team TEAM [--yes]',
  about:
    'This cannot be undone. Before it revokes all keys of a team, it asks for its name. To rotate keys without downtime, create and deploy the new one first, and watch the last use of the old one. ' +
    'For a leaked key, --stdin reads the whole key from standard input; at a terminal you are prompted for it, and it is not shown.',
  operands: ['KEY_ID'],
  insteadOfOperands: ['stdin', 'all'],
  flags: {
    stdin: { summary: 'read the whole key from standard input, instead of KEY_ID' },
    all: { summary: 'revoke every key of a team, instead of KEY_ID' },
    team: { value: 'TEAM', summary: 'with --all: the id of the team' },
    yes: { ...YES, summary: 'with --all: do not ask; required without a terminal' },
  },
  examples: [
    'lingate key revoke 01JD3QB5W1T9C4E8S7X2G6V0PA',
    'lingate key revoke --stdin < leaked.txt',
    'lingate key revoke --all --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC',
  ],
  async run(context) {
    if (context.on('all')) return revokeEveryKey(context);
    const stray = ['team', 'yes'].find((flag) => context.on(flag));
    if (stray !== undefined) throw new UsageError(`--${stray} is only used with --all`);
    const [operand] = context.operands;
    const whole = operand === undefined ? await readKey(context) : undefined;
    const named = operand === undefined ? '' : readId('key', operand);
    await withAdmin(context, async (on) => {
      const id = whole === undefined ? named : (await foundKeys(on, { key: whole }))[0]?.key_id;
      if (id === undefined) throw new CommandFailure(findKeys.noneFails);
      const revoked = await revokedKey(on, id);
      const { display, status } = revoked.value;
      printChange(context, revoked, { key_id: id, status }, `Key ${id} (${display}…) is revoked.`);
    });
  },
};

async function revokeEveryKey(context: CommandContext): Promise<void> {
  if (context.on('stdin')) throw new UsageError('--all and --stdin contradict each other; give one of them');
  const teamId = givenTeam(context);
  if (teamId === undefined) throw new UsageError('--team TEAM is missing: it says whose keys are revoked');
  requireConfirmable(context, 'revoking all keys of a team');
  await withAdmin(context, async (on) => {
    const { name } = found(await on.options.teams.findTeam(teamId), 'team', teamId);
    const does = `This revokes every key of the team ${JSON.stringify(name)} permanently.`;
    await confirm(context, { does, word: name, wordIs: "the team's name" });
    const result = await revokeAll(on, teamId);
    const revoked = result.value;
    const many = revoked.length === 1 ? '1 key is' : `${revoked.length} keys are`;
    const text = revoked.length === 0 ? `Every key of team ${teamId} was revoked before.` : `${many} revoked.`;
    printChange(context, result, { team_id: teamId, revoked }, text);
  });
}

const memoryClear: Command = {
  name: 'memory clear',
  summary: 'Deletes cached translations.',
  about:
    'Use it after you have replaced an engine or a model under the same name. The command clears the cache that gateways share in a Redis; ' +
    'each gateway on the store sees it in the audit and clears its own within ten seconds. ' +
    'Translations in progress at that moment are not cached. Without --team it asks first, because every text is then ' +
    'translated, and paid for, once more.',
  flags: { team: { value: 'TEAM', summary: 'only those of the team with this id', fallback: 'all teams' }, yes: YES },
  examples: ['lingate memory clear', 'lingate memory clear --yes --json', 'lingate memory clear --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = givenTeam(context);
    if (teamId === undefined) {
      requireConfirmable(context, 'clearing the cache of all teams');
      await confirm(context, { does: 'This deletes the cached translations of all teams.', word: 'clear', wordIs: 'clear' });
    }
    const forgot = await forgetInPlugins(await context.config(), teamId);
    if (forgot.size === 0)
      throw new CommandFailure('the configuration has no plugin that caches translations, such as lingate/plugins/memory');
    await withAdmin(context, async (on) => {
      await auditClearedMemory(on, teamId, context.io.nowMs());
      const away = awayOf(forgot);
      const counts = [...forgot.values()].filter((answer) => typeof answer === 'number');
      const dropped = counts.reduce((sum, count) => sum + count, 0);
      context.print({ team_id: teamId ?? null, shared_texts: dropped, ...(away.length === 0 ? {} : { away }) }, () => {
        const whose = teamId === undefined ? 'All cached translations' : `All cached translations of team ${teamId}`;
        const shared = counts.length > 0 ? `${dropped} shared ones have been deleted; ` : '';
        const unreached =
          away.length === 0 ? '' : ` The store of ${away.join(', ')} could not be reached: the gateways try until they reach it.`;
        return `${whose} are being deleted: ${shared}each gateway clears its own cache within ten seconds.${unreached}`;
      });
    });
  },
};

export const commands = [keyRevoke, memoryClear];
