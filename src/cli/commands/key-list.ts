// lingate key list: a team's keys, and when each was last used.
import { keyReport } from '../../admin/reports.ts';
import { hasLimits } from '../../domain/key-limits.ts';
import { rfc3339 } from '../../domain/period.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';
import type { Command } from '../command.ts';
import { limitsText } from '../key-flags.ts';
import { readId } from '../operand.ts';
import { textTable } from '../text-table.ts';
import { TEAMS_WHERE, valueOf, withAdmin } from '../with-store.ts';

export const keyList: Command = {
  name: 'key list',
  summary: "Lists a team's keys and when each was last used.",
  usage: '--team TEAM',
  about: 'Keys themselves are not kept, only their first twelve characters.',
  flags: { team: { kind: 'text', value: 'TEAM', summary: 'the id of the team', required: true } },
  examples: ['lingate key list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.required('team'), TEAMS_WHERE);
    await withAdmin(context, async (admin) => {
      const keys = valueOf(await admin.listKeys(teamId));
      context.print({ keys: keys.map(keyReport) }, () => keyTable(keys, teamId, context.io.nowMs()));
    });
  },
};

function keyTable(keys: readonly KeyRecord[], teamId: string, nowMs: number): string {
  if (keys.length === 0) return `This team has no keys yet; create one with "lingate key create --team ${teamId} --mode live".`;
  const limited = keys.some(({ limits }) => hasLimits(limits));
  const rows = keys.map((key) => [
    key.keyId,
    key.display,
    key.label === '' ? '-' : key.label,
    key.mode,
    key.status,
    rfc3339(key.createdAtMs),
    lastUse(key.lastUsedAtMs, nowMs),
    ...(limited ? [limitsText(key.limits)] : []),
  ]);
  const head = ['KEY', 'BEGINS WITH', 'LABEL', 'MODE', 'STATUS', 'CREATED', 'LAST USED'];
  return textTable(limited ? [...head, 'LIMITS'] : head, rows);
}

/** `3 minutes ago (…)`: with the exact time, because a rotation waits until it stops changing. */
export function lastUse(lastUsedAtMs: number | undefined, nowMs: number): string {
  return lastUsedAtMs === undefined ? 'never' : `${ago(lastUsedAtMs, nowMs)} (${rfc3339(lastUsedAtMs)})`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 minutes ago`. A time in the future, because of a slow clock, counts as now. */
function ago(thenMs: number, nowMs: number): string {
  const elapsed = nowMs - thenMs;
  for (const [unit, lengthMs] of UNITS) {
    const count = Math.floor(elapsed / lengthMs);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
