// lingate key update: changes a key's label or limits, disables it, or enables it again.
import { replicatedMember } from '../../admin/admin-result.ts';
import { changedKeyReport } from '../../admin/reports.ts';
import type { ChangedKeyReport } from '../../admin/reports.ts';
import type { KeyChange } from '../../ports/team-registry.ts';
import type { Command, CommandContext } from '../command.ts';
import { UsageError } from '../command.ts';
import { LIMIT_FLAGS, limitsText, NO_LIMIT_FLAGS, readLimitChange, statusNote } from '../key-flags.ts';
import { readId, readName } from '../operand.ts';
import { labelled } from '../text-table.ts';
import { KEYS_WHERE, saying, valueOf, withAdmin } from '../with-store.ts';

export const keyUpdate: Command = {
  name: 'key update',
  summary: "Changes a key's label or limits, disables it, or enables it again.",
  usage: 'KEY_ID [--label LABEL] [--disable | --enable]',
  about:
    'The change takes effect at the next request, everywhere; what is not given stays as it is. ' +
    '--allow replaces all addresses that were allowed before. A disabled key can be enabled again; a revoked key cannot.',
  operands: ['KEY_ID'],
  flags: {
    ...LIMIT_FLAGS,
    ...NO_LIMIT_FLAGS,
    label: { kind: 'text', value: 'LABEL', summary: 'what the key is for' },
    'no-label': { kind: 'switch', summary: 'remove the label' },
    disable: { kind: 'switch', summary: 'refuse the key until it is enabled again' },
    enable: { kind: 'switch', summary: 'let a disabled key work again' },
  },
  examples: [
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --expires-at 2027-01-31T18:00:00Z --characters 100000',
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --allow 203.0.113.0/24 --allow 2001:db8::/32 --no-characters',
    'lingate key update 01JD3QB5W1T9C4E8S7X2G6V0PA --disable',
  ],
  async run(context) {
    const change = readChange(context);
    const keyId = readId('key', context.operands[0]!, `give its KEY_ID, not the key; ${KEYS_WHERE}`);
    await withAdmin(context, async (admin) => {
      const result = await admin.updateKey(keyId, change);
      const key = valueOf(result);
      const report = changedKeyReport(key);
      context.print({ ...report, ...replicatedMember(result) }, () =>
        saying(`${keyText(report, limitsText(key.limits))}${statusNote(key)}`, result),
      );
    });
  },
};

function readChange(context: CommandContext): KeyChange {
  const limits = readLimitChange(context);
  const label = readLabel(context);
  const [disables, enables] = [context.on('disable'), context.on('enable')];
  if (disables && enables) throw new UsageError('--disable and --enable contradict each other; give one of them');
  if (limits === undefined && label === undefined && !disables && !enables) {
    throw new UsageError('nothing to change; give --label, a limit, --disable or --enable');
  }
  return {
    ...(label === undefined ? {} : { label }),
    ...(disables || enables ? { disabled: disables } : {}),
    ...(limits === undefined ? {} : { limits }),
  };
}

function readLabel(context: CommandContext): string | undefined {
  const label = context.text('label');
  const removed = context.on('no-label');
  if (label !== undefined && removed) throw new UsageError('--label and --no-label contradict each other; give one of them');
  if (removed) return '';
  return label === undefined ? undefined : readName('label', label);
}

function keyText({ key_id, display, label, mode, status, team_id }: ChangedKeyReport, limits: string): string {
  return labelled({ key_id, display: `${display}…`, label: label === '' ? '-' : label, mode, status, team_id, limits });
}
