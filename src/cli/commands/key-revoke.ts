// lingate key revoke: takes a key out of use, at once and for good.
import { replicatedMember } from '../../admin/admin-result.ts';
import type { Command } from '../command.ts';
import { readId } from '../operand.ts';
import { KEYS_WHERE, saying, valueOf, withAdmin } from '../with-admin.ts';

export const keyRevoke: Command = {
  name: 'key revoke',
  summary: 'Revokes a key: no later request with it is let through.',
  usage: 'KEY_ID',
  about: 'This cannot be undone. To change keys without a gap, create the new one first and watch the last use of the old one.',
  operands: ['KEY_ID'],
  flags: {},
  examples: ['lingate key revoke 01JD3QB5W1T9C4E8S7X2G6V0PA'],
  async run(context) {
    const keyId = readId('key', context.operands[0]!, `give its KEY_ID, not the key; ${KEYS_WHERE}`);
    await withAdmin(context, async (admin) => {
      const result = await admin.revokeKey(keyId);
      const key = valueOf(result);
      context.print({ key_id: key.keyId, status: key.status, ...replicatedMember(result) }, () =>
        saying(`Key ${key.keyId} (${key.display}…) is revoked.`, result),
      );
    });
  },
};
