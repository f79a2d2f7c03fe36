// lingate key find: finds a key by all of it, from standard input, or by its first twelve characters.
import { foundKeyReport } from '../../admin/reports.ts';
import { matchesDisplay } from '../../domain/api-key.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import type { FoundKey } from '../../ports/team-registry.ts';
import type { Command, CommandContext } from '../command.ts';
import { CommandFailure, UsageError } from '../command.ts';
import { limitsText } from '../key-flags.ts';
import { readKey } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { NOBODYS_KEY, valueOf, withAdmin } from '../with-store.ts';
import { lastUse } from './key-list.ts';

export const keyFind: Command = {
  name: 'key find',
  summary: 'Finds a key: by all of it, from standard input, or by its first twelve characters.',
  usage: '[--display la_live_Ab3d]',
  about:
    'At a terminal you are prompted for the key, and it is not shown. It is never accepted on the command line, which the shell history ' +
    'keeps and other users can read. Several keys may have the same first twelve characters. The exit status is 1 if there is no such key.',
  flags: {
    display: { kind: 'text', value: 'la_live_Ab3d', summary: 'the first twelve characters', fallback: 'a whole key from standard input' },
  },
  examples: ['lingate key find', 'lingate key find < leaked.txt', 'lingate key find --display la_live_Ab3d'],
  async run(context) {
    const search = await searchOf(context);
    await withAdmin(context, async (admin) => {
      const keys = valueOf(await admin.findKeys(search));
      if (keys.length > 0 || context.json) context.print({ keys: keys.map(foundKeyReport) }, () => keyTable(keys, context.io.nowMs()));
      if (keys.length === 0) throw new CommandFailure(NOBODYS_KEY);
    });
  },
};

async function searchOf(context: CommandContext): Promise<{ readonly key: string } | { readonly display: string }> {
  const display = context.text('display');
  if (display === undefined) return { key: await readKey(context) };
  if (matchesDisplay(display)) return { display };
  throw new UsageError('--display takes the first twelve characters of a key, such as la_live_Ab3d');
}

function keyTable(keys: readonly FoundKey[], nowMs: number): string {
  const limited = keys.some(({ limits }) => hasLimits(limits));
  const rows = keys.map((key) => [
    key.keyId,
    key.display,
    key.label === '' ? '-' : key.label,
    key.mode,
    key.status,
    key.teamId,
    key.teamName,
    lastUse(key.lastUsedAtMs, nowMs),
    ...(limited ? [limitsText(key.limits)] : []),
  ]);
  const head = ['KEY', 'BEGINS WITH', 'LABEL', 'MODE', 'STATUS', 'TEAM', 'NAME', 'LAST USED'];
  return textTable(limited ? [...head, 'LIMITS'] : head, rows);
}
