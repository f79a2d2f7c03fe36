// Whole accounts in SQLite: read, written and cleared row by row, for checks, copies and repairs.
import type { StoredCounts, WindowSubject } from '../../domain/window-limits.ts';
import { Slots, slotsOf } from '../../ledger/rate.ts';
import type { RecordTable } from '../../ports/record-space.ts';
import type { KeyRecord } from '../../ports/team-registry.ts';
import type { KeyContents, WholeAccount, WholeAccounts } from '../../ports/whole-accounts.ts';
import type { RememberedChange } from '../records/team-registry.ts';
import { chargedIn, keysIn, requestsOf } from '../records/usage-rows.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SqliteBlobs } from './sqlite-blobs.ts';
import { onRows } from './sqlite-records.ts';
import type { SqliteParts } from './sqlite-records.ts';
import type { SqliteTeams, TeamRow } from './sqlite-teams.ts';
import type { SqliteUsage } from './sqlite-usage.ts';

/** Tables of a team, which a written account replaces; blobs stay. */
const REPLACED = ['keys', 'key_accounts', 'usage', 'periods', 'operations', 'records'] as const;
const CLEARED = [...REPLACED, 'teams', 'accounts', 'blobs', 'pieces'] as const;

const NO_CHARACTERS = { usedCharacters: 0, heldCharacters: 0, allowanceUsed: 0, allowanceHeld: 0 };
const NOTHING = { ...NO_CHARACTERS, balanceMicro: 0, heldMicro: 0, openReservations: 0 };

export function sqliteWholeAccounts(parts: SqliteParts, teams: SqliteTeams, usage: SqliteUsage, blobs: SqliteBlobs): WholeAccounts {
  const { accounts, sql } = parts;

  const read = ({ no, team, erasure, openingMicro }: TeamRow): WholeAccount => {
    const charges = usage.charges(no);
    const account = accounts.read(team.teamId)?.account;
    if (account === undefined && erasure === NOT_ERASED) throw new RangeError('its counts are missing');
    const { number = 0 } = account?.counts.period ?? {};
    const current = new Map(keysIn(charges, number).map((use) => [use.keyId, use]));
    const all = sql.rows<[kind: string, id: string, value: string]>('SELECT kind, id, value FROM records WHERE team = ?', no);
    const records = all.map(([table, id, value]) => ({ table, id, value }));
    const ofKind = (kind: string) => records.filter(({ table }) => table === kind);
    return {
      team,
      period: account?.counts.period,
      ended: usage.ended(no),
      openingMicro,
      charges,
      standing: account?.standing() ?? NOTHING,
      window: account?.counts.slots.entries() ?? [],
      windowCounts: ofKind('windows').map(({ id, value }) => ({ subject: id as WindowSubject, counts: JSON.parse(value) as StoredCounts })),
      keys: teams.keyRows(no).map(([record, lastUsedAtMs, digest, newestMs, window]): KeyContents => {
        const { teamId: _team, ...key } = JSON.parse(record) as KeyRecord;
        const { characters = 0, requests = 0 } = current.get(key.keyId) ?? {};
        return {
          ...key,
          lastUsedAtMs: lastUsedAtMs || undefined,
          digest: digest ?? undefined,
          characters,
          requests,
          heldCharacters: key.limits.characters === undefined ? undefined : account?.heldBy(key.keyId),
          window: new Slots(window ?? undefined, newestMs ?? 0).entries(),
        };
      }),
      requests: requestsOf(account),
      changes: ofKind('changes').map(({ id, value }) => ({ id, ...(JSON.parse(value) as RememberedChange) })),
      records: records.flatMap((one) => (OF_ACCOUNT.has(one.table) ? [] : { ...one, table: one.table as RecordTable })),
    };
  };

  const write = (whole: WholeAccount): number => {
    const { team, period, charges } = whole;
    const { characters: used, ofAllowance: allowanceUsed } = chargedIn(charges, period?.number ?? 0);
    const counts = period && { balanceMicro: team.balanceMicro, period, used, allowanceUsed, slots: slotsOf(whole.window) };
    const rows = accounts.put(team, counts, whole.openingMicro);
    for (const table of REPLACED) sql.write(`DELETE FROM ${table} WHERE team = ?`, rows.no);
    for (const one of whole.ended) rows.endPeriod(one);
    for (const { digest, window: slots, heldCharacters: _h, characters: _c, requests: _r, lastUsedAtMs, ...key } of whole.keys)
      rows.addKey({ ...key, teamId: team.teamId }, digest, lastUsedAtMs, slotsOf(slots));
    for (const { subject, counts: counted } of whole.windowCounts) rows.putRecord('windows', subject, JSON.stringify(counted));
    for (const { requestId, periodNumber, ...held } of whole.requests)
      rows.open(requestId, { tickets: undefined, tag: undefined, ...held, period: periodNumber });
    for (const charge of charges) rows.putCharge(charge);
    for (const { id, ...change } of whole.changes) rows.putChange(id, change);
    for (const { table, id, value } of whole.records) rows.putRecord(table, id, value);
    return rows.no;
  };

  return {
    change: (teamId, decide) =>
      onRows(parts, () => {
        const row = teams.find(teamId);
        const isThere = row !== undefined && (row.erasure === NOT_ERASED || row.erasure === ONLY_USAGE_LEFT);
        const change = decide(isThere ? read(row) : undefined);
        if (change === undefined) return undefined;
        blobs.attach(write(change.account), change.attach ?? [], true);
        accounts.forget();
        return undefined;
      }),
    clear: () =>
      onRows(parts, () => {
        for (const table of CLEARED) sql.write(`DELETE FROM ${table}`);
        accounts.forget();
        return undefined;
      }),
  };
}

/** Kinds of records that are no tables of the record space. */
const OF_ACCOUNT: ReadonlySet<string> = new Set(['changes', 'windows']);
