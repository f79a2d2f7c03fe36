// lingate key revoke: revokes a key, at once and permanently.
import type { AdminOperations } from '../../admin/admin-operations.ts';
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Command } from '../command.ts';
import { CommandFailure } from '../command.ts';
import { readId, readKey } from '../operand.ts';
import { KEYS_WHERE, NOBODYS_KEY, saying, valueOf, withAdmin } from '../with-store.ts';

export const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'Revokes a key: its next request is refused.',
  usage: 'KEY_ID | --stdin',
  about:
    'This cannot be undone. To rotate keys without downtime, create and deploy the new one first, and watch the last use of the old one. ' +
    'For a leaked key, --stdin reads the whole key from standard input; at a terminal you are prompted for it, and it is not shown.',
  operands: ['KEY_ID'],
  insteadOfOperands: 'stdin',
  flags: { stdin: { kind: 'switch', summary: 'read the whole key from standard input, instead of KEY_ID' } },
  examples: ['lingate key revoke 01JD3QB5W1T9C4E8S7X2G6V0PA', 'lingate key revoke --stdin < leaked.txt'],
  async run(context) {
    const [operand] = context.operands;
    const whole = operand === undefined ? await readKey(context) : undefined;
    const given = operand === undefined ? '' : readId('key', operand, `give its KEY_ID, not the key; ${KEYS_WHERE}`);
    await withAdmin(context, async (admin) => {
      const keyId = whole === undefined ? given : await idOf(admin, whole);
      const result = await admin.revokeKey(keyId);
      const key = valueOf(result);
      context.print({ key_id: key.keyId, status: key.status, ...replicatedMember(result) }, () =>
        saying(`Key ${key.keyId} (${key.display}…) is revoked.`, result),
      );
    });
  },
};

async function idOf(admin: AdminOperations, key: string): Promise<string> {
  const [found] = valueOf(await admin.findKeys({ key }));
  if (found === undefined) throw new CommandFailure(NOBODYS_KEY);
  return found.keyId;
}
