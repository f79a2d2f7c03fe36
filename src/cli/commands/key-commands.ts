// lingate key revoke: also by a whole key from standard input, and of all keys of a team.
import { findKeys, foundKeys, revokeAll, revokedKey } from '../../admin/operations/keys.ts';
import { foundTeam } from '../../admin/operations/teams.ts';
import { CommandFailure, UsageError } from '../command.ts';
import type { Command, CommandContext } from '../command.ts';
import { confirm, givenTeam, readId, readKey, requireConfirmable, YES } from '../asked.ts';
import { doneFrom, printChange, valueFrom, withAdmin } from '../with-store.ts';

export const keyRevoke: Command = {
  usage: 'KEY_ID | --stdin | --all --team TEAM [--yes]',
  about:
    'This cannot be undone; revoking all keys of a team asks for its name first. To rotate keys without downtime, create and deploy the new one first, and watch the last use of the old one. ' +
    'For a leaked key, --stdin reads the whole key from standard input; at a terminal you are prompted for it, and it is not shown.',
  operands: ['KEY_ID'],
  insteadOfOperands: ['stdin', 'all'],
  flags: {
    stdin: { kind: 'switch', summary: 'read the whole key from standard input, instead of KEY_ID' },
    all: { kind: 'switch', summary: 'revoke every key of a team, instead of KEY_ID' },
    team: { kind: 'text', value: 'TEAM', summary: 'with --all: the id of the team' },
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
      const id = whole === undefined ? named : valueFrom(await foundKeys(on, { key: whole }))[0]?.key_id;
      if (id === undefined) throw new CommandFailure(findKeys.noneFails);
      const revoked = doneFrom(await revokedKey(on, id));
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
    const { name } = valueFrom(await foundTeam(on, teamId));
    const does = `This revokes every key of the team ${JSON.stringify(name)} permanently.`;
    await confirm(context, { does, word: name, wordIs: "the team's name" });
    const result = doneFrom(await revokeAll(on, teamId));
    const revoked = result.value;
    const many = revoked.length === 1 ? '1 key is' : `${revoked.length} keys are`;
    const text = revoked.length === 0 ? `Every key of team ${teamId} was revoked before.` : `${many} revoked.`;
    printChange(context, result, { team_id: teamId, revoked }, text);
  });
}
