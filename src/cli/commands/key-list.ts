// lingate key list: a team's keys, and when each was last used.
import { rfc3339 } from '../../domain/period.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';
import { ago } from '../ago.ts';
import type { Command } from '../command.ts';
import { noSuchTeam, readId, TEAMS_WHERE } from '../operand.ts';
import { table } from '../table.ts';
import { withStore } from '../with-store.ts';

export const keyList: Command = {
  name: 'key list',
  summary: "Lists a team's keys and when each was last used.",
  usage: '--team TEAM',
  about: 'Keys themselves are not kept, only their first twelve characters.',
  flags: { team: { kind: 'text', value: 'TEAM', summary: 'the id of the team', required: true } },
  examples: ['lingate key list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC'],
  async run(context) {
    const teamId = readId('team', context.required('team'), TEAMS_WHERE);
    await withStore(context, async ({ teams }) => {
      const keys = await teams.listKeys(teamId);
      if (keys === undefined) throw noSuchTeam(teamId);
      context.print({ keys: keys.map(keyReport) }, () => keyTable(keys, teamId, context.io.nowMs()));
    });
  },
};

function keyReport(key: KeyRecord): Readonly<Record<string, string | null>> {
  return {
    key_id: key.keyId,
    display: key.display,
    label: key.label,
    mode: key.mode,
    status: key.status,
    created_at: rfc3339(key.createdAtMs),
    last_used_at: key.lastUsedAtMs === undefined ? null : rfc3339(key.lastUsedAtMs),
  };
}

function keyTable(keys: readonly KeyRecord[], teamId: string, nowMs: number): string {
  if (keys.length === 0) return `This team has no keys yet; make one with "lingate key create --team ${teamId} --mode live".`;
  const rows = keys.map((key) => [
    key.keyId,
    key.display,
    key.label === '' ? '-' : key.label,
    key.mode,
    key.status,
    rfc3339(key.createdAtMs),
    lastUse(key.lastUsedAtMs, nowMs),
  ]);
  return table(['KEY', 'BEGINS WITH', 'LABEL', 'MODE', 'STATUS', 'CREATED', 'LAST USED'], rows);
}

/** Words to read, and the moment to compare: a rotation waits until it stops moving. */
export function lastUse(lastUsedAtMs: number | undefined, nowMs: number): string {
  return lastUsedAtMs === undefined ? 'never' : `${ago(lastUsedAtMs, nowMs)} (${rfc3339(lastUsedAtMs)})`;
}
