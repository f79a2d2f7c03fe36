// What is shown of a key: rows of lists and answers, their schemas, and columns on every front.
import type { Static } from 'typebox';
import { rfc3339 } from '../../domain/period.ts';
import { Type } from '../../domain/typebox.ts';
import type { FoundKey, KeyRecord } from '../../ports/team-registry.ts';
import { moment } from '../fields.ts';
import type { Cell, RowColumn } from '../operation.ts';
import { limitsReport, LimitsShown, limitsText } from './key-limits.ts';

const mode = Type.Enum(['live', 'test'], { type: 'string' });
const Base = {
  key_id: Type.String(),
  display: Type.String({ description: "The key's first twelve characters." }),
  label: Type.String(),
  mode,
  status: Type.Enum(['active', 'revoked', 'disabled', 'expired'], {
    type: 'string',
    description: 'A `disabled` key can be enabled and an `expired` one given more time; `revoked` is permanent.',
  }),
};
const lastUsed = Type.Union([moment, Type.Null()]);
export const Key = Type.Object({ ...Base, created_at: moment, last_used_at: lastUsed, ...LimitsShown });
export const ChangedKey = Type.Object({ team_id: Type.String(), ...Key.properties });
export const Found = Type.Object({ ...Base, team_id: Type.String(), team_name: Type.String(), last_used_at: lastUsed, ...LimitsShown });
export const New = Type.Object({
  key_id: Type.String(),
  key: Type.Optional(
    Type.String({
      description: 'The whole key; shown this once. Absent in the answer to a repetition with the same Idempotency-Key (Lingate-Replayed).',
    }),
  ),
  display: Type.String(),
  label: Type.String(),
  mode,
  team_id: Type.String(),
  ...LimitsShown,
});
export type ListedKeyRow = Static<typeof Key>;
export type FoundKeyRow = Static<typeof Found>;
export type NewKeyRow = Static<typeof New>;
export type ChangedKeyRow = Static<typeof ChangedKey>;

export function keyReport(key: KeyRecord): ListedKeyRow {
  const { keyId, display, label, mode: of, status, createdAtMs, lastUsedAtMs } = key;
  const lastUsedAt = lastUsedAtMs === undefined ? null : rfc3339(lastUsedAtMs);
  const times = { created_at: rfc3339(createdAtMs), last_used_at: lastUsedAt };
  return { key_id: keyId, display, label, mode: of, status, ...times, ...limitsReport(key.limits) };
}

export function foundRow(key: FoundKey): FoundKeyRow {
  const { created_at: _at, ...row } = keyReport(key);
  return { ...row, team_id: key.teamId, team_name: key.teamName };
}

/** What all lists of keys show. A console's list knows whose they are. */
export function keyColumns<Row extends (ListedKeyRow | FoundKeyRow) & { readonly team_id?: string }>(
  more: readonly RowColumn<Row>[],
): readonly RowColumn<Row>[] {
  return [
    {
      head: 'Key',
      cell: ({ key_id: id, display, team_id: teamId = '' }) => ({ kind: 'key', id, teamId, display }),
      only: 'console',
    },
    { head: 'Key', cell: (row) => row.key_id, only: 'command' },
    { head: 'Begins with', cell: (row) => row.display, only: 'command' },
    { head: 'Label', cell: (row) => row.label || undefined, holds: 'text' },
    { head: 'Mode', cell: (row) => row.mode },
    { head: 'Status', cell: (row) => ({ kind: 'status', status: row.status }) },
    ...more,
    { head: 'Last used', cell: (row) => ({ kind: 'ago', at: row.last_used_at }) },
    { head: 'Limits', cell: limitsText, holds: 'text' },
  ];
}

/** What one key shows, its limits in a line. */
export function keyFacts(row: NewKeyRow | ChangedKeyRow): Readonly<Record<string, Cell>> {
  const { key_id, display, label, mode: of, team_id } = row;
  const what = 'status' in row ? { status: row.status } : { key: row.key };
  return { key_id, ...what, display, label: label || '-', mode: of, team_id, limits: limitsText(row) ?? '-' };
}
