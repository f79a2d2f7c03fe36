// Whole accounts in SQLite: read, written and cleared row by row, for checks, copies and repairs.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { WindowSubject } from '../../domain/window-limits.ts';
import { Slots, slotsOf } from '../../ledger/rate.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { RecordTable } from '../../ports/record-space.ts';
import type {
  AccountChange,
  KeyContents,
  RequestContents,
  SubjectCounts,
  WholeAccount,
  WholeAccounts,
} from '../../ports/whole-accounts.ts';
import { chargedIn, keysIn } from '../records/usage-rows.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import { onRows } from './sqlite-parts.ts';
import type { SqliteParts } from './sqlite-parts.ts';
import type { SqliteUsage } from './sqlite-usage.ts';
import { objects, prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';
import type { TeamRow, TeamQueries } from './team-table.ts';

/** Tables of a team, which a written account replaces; blobs stay. */
const REPLACED = ['periods', 'keys', 'key_accounts', 'window_counts', 'usage', 'operations', 'changes', 'records'] as const;
const CLEARED = [...REPLACED, 'teams', 'accounts', 'blobs', 'pieces'] as const;

interface RequestRow extends Omit<RequestContents, 'ofAllowance' | 'tickets' | 'tag'> {
  readonly ofAllowance: number;
  readonly tickets: string | null;
  readonly tag: string | null;
}

const SQL = {
  keys: tuples<
    [record: string, digest: string | null, lastUsedAtMs: number | null, newestMs: number | null, window: Uint8Array<ArrayBuffer> | null]
  >(
    `SELECT k.record, k.digest, u.last_used_at_ms, u.window_newest_ms, u.window FROM keys k
     LEFT JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.team = ? ORDER BY k.no`,
  ),
  windows: tuples<[subject: WindowSubject, counts: string]>('SELECT subject, counts FROM window_counts WHERE team = ?'),
  requests: objects<RequestRow>(`SELECT request_id AS requestId, until_ms AS untilMs, coalesce(k.key_id, '') AS keyId, characters,
      price_micro AS priceMicro, period_no AS periodNumber, of_allowance AS ofAllowance, tickets, tag
    FROM operations o LEFT JOIN keys k ON k.no = o.key WHERE o.team = ?`),
  changes: objects<WholeAccount['changes'][number]>('SELECT id, request, until_ms AS untilMs FROM changes WHERE team = ?'),
  records: tuples<[table: RecordTable, id: string, value: string]>('SELECT kind, id, value FROM records WHERE team = ?'),
  putTeam: tuples<[no: number]>(`INSERT INTO teams (team_id, name, reference, record, erasure, opening_micro) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (team_id) DO UPDATE SET name = excluded.name, reference = excluded.reference, record = excluded.record,
      erasure = excluded.erasure, opening_micro = excluded.opening_micro RETURNING no`),
  putAccount: `INSERT OR REPLACE INTO accounts (team, balance_micro, period_no, period_start_ms, period_end_ms, anchor_ms, used_characters,
    allowance_used, window_newest_ms, window) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  putPeriod: 'INSERT INTO periods (team, no, start_ms, end_ms, plan, limits, added_micro, deducted_micro) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  putKey: tuples<[no: number]>('INSERT INTO keys (key_id, team, digest, display, mode, record) VALUES (?, ?, ?, ?, ?, ?) RETURNING no'),
  putKeyAccount: 'INSERT INTO key_accounts (team, key, last_used_at_ms, window_newest_ms, window) VALUES (?, ?, ?, ?, ?)',
  putWindow: 'INSERT INTO window_counts (team, subject, counts) VALUES (?, ?, ?)',
  putRequest: `INSERT INTO operations (request_id, team, until_ms, key, characters, price_micro, period_no, of_allowance, tickets, tag)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  putUse: 'INSERT INTO usage (team, key, period_no, day, characters, requests, micro, of_allowance) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  putChange: 'INSERT INTO changes (team, id, request, until_ms) VALUES (?, ?, ?, ?)',
  putRecord: 'INSERT INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
};

const NOTHING = {
  usedCharacters: 0,
  heldCharacters: 0,
  allowanceUsed: 0,
  allowanceHeld: 0,
  balanceMicro: 0,
  heldMicro: 0,
  openReservations: 0,
};

type Parts = Pick<SqliteParts, 'database' | 'group' | 'accounts' | 'blobs'>;

export class SqliteWholeAccounts implements WholeAccounts {
  readonly #parts: Parts;
  readonly #teams: TeamQueries;
  readonly #usage: SqliteUsage;
  readonly #sql: Statements<typeof SQL>;

  constructor(parts: Parts, teams: TeamQueries, usage: SqliteUsage) {
    [this.#parts, this.#teams, this.#usage] = [parts, teams, usage];
    this.#sql = prepared(parts.database, SQL);
  }

  change(teamId: string, decide: (account: WholeAccount | undefined) => AccountChange | undefined): Promise<StoreUnavailable | undefined> {
    return onRows(this.#parts, () => {
      const row = this.#teams.find(teamId);
      const isThere = row !== undefined && (row.erasure === NOT_ERASED || row.erasure === ONLY_USAGE_LEFT);
      const change = decide(isThere ? this.#read(row) : undefined);
      if (change === undefined) return undefined;
      const no = this.#write(change.account);
      for (const { blobId, pieces } of change.attach ?? []) this.#parts.blobs.write(no, blobId, pieces);
      this.#parts.accounts.forget();
      return undefined;
    });
  }

  clear(): Promise<StoreUnavailable | undefined> {
    return onRows(this.#parts, () => {
      for (const table of CLEARED) this.#parts.database.exec(`DELETE FROM ${table}`);
      this.#parts.accounts.forget();
      return undefined;
    });
  }

  #read(row: TeamRow): WholeAccount {
    const { no, team, erasure } = row;
    const account = this.#parts.accounts.read(team.teamId)?.account;
    if (account === undefined && erasure === NOT_ERASED) throw new RangeError('a team has no counts');
    const { charges, ended, period: running, openingMicro } = this.#usage.whole(row);
    const { period, slots } = account?.counts ?? { period: undefined, slots: new Slots() };
    if (running?.number !== period?.number) throw new RangeError('a period is missing');
    const current = new Map(keysIn(charges, period?.number ?? 0).map((use) => [use.keyId, use]));
    return {
      team,
      period: running && { ...running, ...period! },
      ended,
      openingMicro,
      charges: charges.map(({ keyId, day, period: of, characters, requests, micro, ofAllowance }) => {
        return { keyId, day, period: of, characters, requests, micro, ofAllowance };
      }),
      standing: account?.standing() ?? NOTHING,
      window: slots.entries(),
      windowCounts: this.#sql.windows
        .all(no)
        .map(([subject, counts]) => ({ subject, counts: JSON.parse(counts) as SubjectCounts['counts'] })),
      keys: this.#sql.keys.all(no).map(([record, digest, lastUsedAtMs, newestMs, window]): KeyContents => {
        const { teamId: _team, ...key } = JSON.parse(record) as Omit<KeyContents, 'digest'> & { readonly teamId: string };
        const used = current.get(key.keyId) ?? { characters: 0, requests: 0 };
        return {
          ...key,
          lastUsedAtMs: lastUsedAtMs === null || lastUsedAtMs === 0 ? undefined : lastUsedAtMs,
          digest: digest ?? undefined,
          characters: used.characters,
          requests: used.requests,
          heldCharacters: key.limits.characters === undefined || account === undefined ? undefined : account.heldBy(key.keyId),
          window: new Slots(window ?? undefined, newestMs ?? 0).entries(),
        };
      }),
      requests: this.#sql.requests.all(no).map(({ ofAllowance, tickets, tag, ...request }): RequestContents => ({
        ...request,
        ofAllowance: ofAllowance === 1,
        tickets: tickets === null ? undefined : (JSON.parse(tickets) as NonNullable<RequestContents['tickets']>),
        tag: tag === null ? undefined : (JSON.parse(tag) as RequestTag),
      })),
      changes: this.#sql.changes.all(no),
      records: this.#sql.records.all(no).map(([table, id, value]) => ({ table, id, value })),
    };
  }

  #write(whole: WholeAccount): number {
    const { period, ended, openingMicro, window } = whole;
    const { balanceMicro, ...team } = whole.team;
    const erasure = period === undefined ? ONLY_USAGE_LEFT : NOT_ERASED;
    const [no] = this.#sql.putTeam.get(team.teamId, team.name, team.reference ?? null, JSON.stringify(team), erasure, openingMicro)!;
    for (const table of REPLACED) this.#parts.database.prepare(`DELETE FROM ${table} WHERE team = ?`).run(no);
    for (const { number, startMs, endMs, plan, limits, addedMicro, deductedMicro } of ended)
      this.#sql.putPeriod.run(no, number, startMs, endMs, plan, JSON.stringify(limits), addedMicro, deductedMicro);
    if (period !== undefined) {
      const { number, startMs, endMs, anchorMs, addedMicro, deductedMicro } = period;
      const slots = slotsOf(window);
      this.#sql.putPeriod.run(no, number, startMs, endMs, null, null, addedMicro, deductedMicro);
      const { characters, ofAllowance } = chargedIn(whole.charges, number);
      const used = [characters, ofAllowance, slots.newestMs, slots.packed()] as const;
      this.#sql.putAccount.run(no, balanceMicro, number, startMs, endMs, anchorMs, ...used);
    }
    const keys = this.#writeKeys(no, whole);
    for (const { subject, counts } of whole.windowCounts) this.#sql.putWindow.run(no, subject, JSON.stringify(counts));
    for (const request of whole.requests) this.#writeRequest(no, keys, request);
    for (const { keyId, day, period: of, characters, requests, micro, ofAllowance } of whole.charges)
      this.#sql.putUse.run(no, keys.get(keyId)!, of, day, characters, requests, micro, ofAllowance);
    for (const { id, request, untilMs } of whole.changes) this.#sql.putChange.run(no, id, request, untilMs);
    for (const { table, id, value } of whole.records) this.#sql.putRecord.run(no, table, id, value);
    return no;
  }

  /** Returns their numbers. */
  #writeKeys(no: number, { team: { teamId }, keys }: WholeAccount): ReadonlyMap<string, number> {
    return new Map(
      keys.map((key): [string, number] => {
        const { digest, window, heldCharacters: _held, characters: _characters, requests: _requests, lastUsedAtMs = 0, ...rest } = key;
        const slots = slotsOf(window);
        const record = JSON.stringify({ ...rest, teamId });
        const [own] = this.#sql.putKey.get(key.keyId, no, digest ?? null, key.display, key.mode, record)!;
        this.#sql.putKeyAccount.run(no, own, lastUsedAtMs, slots.newestMs, slots.packed());
        return [key.keyId, own];
      }),
    );
  }

  #writeRequest(no: number, keys: ReadonlyMap<string, number>, request: RequestContents): void {
    const { requestId, untilMs, keyId, characters, priceMicro, periodNumber, ofAllowance, tickets, tag } = request;
    this.#sql.putRequest.run(
      requestId,
      no,
      untilMs,
      keys.get(keyId)!,
      characters,
      priceMicro,
      periodNumber,
      ofAllowance ? 1 : 0,
      tickets === undefined ? null : JSON.stringify(tickets),
      tag === undefined ? null : JSON.stringify(tag),
    );
  }
}
