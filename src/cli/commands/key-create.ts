// lingate key create: creates a key and shows it once.
import type { KeyMode } from '../../domain/api-key.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import type { Command } from '../command.ts';
import { UsageError } from '../command.ts';
import { LIMIT_FLAGS, limitsText, readLimits } from '../key-flags.ts';
import { readId, readName } from '../operand.ts';
import { labelled } from '../text-table.ts';
import { TEAMS_WHERE, valueOf, withAdmin } from '../with-store.ts';

export const keyCreate: Command = {
  name: 'key create',
  summary: 'Creates a key for a team and shows it, once.',
  usage: '--team TEAM --mode live|test [--label LABEL]',
  about: 'Only a digest of the key is kept. Both modes work alike; the mode is a label in usage reports.',
  flags: {
    team: { kind: 'text', value: 'TEAM', summary: 'the id of the team', required: true },
    mode: { kind: 'text', value: 'live|test', summary: 'a label in usage reports', required: true },
    label: { kind: 'text', value: 'LABEL', summary: 'what the key is for', fallback: 'no label' },
    ...LIMIT_FLAGS,
  },
  examples: [
    'lingate key create --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --mode live --label backend',
    'lingate key create --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --mode live --expires-at 2027-01-31T18:00:00Z --allow 203.0.113.0/24',
  ],
  async run(context) {
    const mode = readMode(context.required('mode'));
    const label = context.text('label');
    const limits = readLimits(context);
    const record = { mode, label: label === undefined ? '' : readName('label', label), limits };
    const teamId = readId('team', context.required('team'), TEAMS_WHERE);
    await withAdmin(context, async (admin) => {
      const report = valueOf(await admin.createKey({ ...record, teamId }));
      const { key_id, key, display, team_id } = report;
      const shown = { key_id, key, display, mode, team_id, ...(hasLimits(limits) ? { limits: limitsText(limits) } : {}) };
      context.print(report, () => `${labelled(shown)}\n\nKeep the key now: it will not be shown again.`);
    });
  },
};

function readMode(value: string): KeyMode {
  if (value === 'live' || value === 'test') return value;
  throw new UsageError(`--mode ${JSON.stringify(value)} is neither live nor test`);
}
