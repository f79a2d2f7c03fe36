// Teams' accounts between transactions: each is read once and stays in memory until another process has written to the file, and
// what operations have changed is written once, before the COMMIT.
import type { SQLOutputValue } from 'node:sqlite';
import type { Audited } from '../../domain/audit-entry.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { StoredCounts, WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import { Account } from '../../ledger/account.ts';
import type { AccountCounts, KeyCharge } from '../../ledger/account-rows.ts';
import type { HeldReservation } from '../../ledger/open-reservations.ts';
import { Slots } from '../../ledger/rate.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod, RunningPeriod } from '../../ports/usage-history.ts';
import { readPairs } from '../records/record-glossaries.ts';
import { reportOf } from '../records/team-registry.ts';
import type { RememberedChange, TeamRows } from '../records/team-registry.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { Sql } from './sql.ts';
import type { SharedWrites } from './sqlite-records.ts';

/** About a kilobyte each. All are dropped when there are more. */
const TEAMS_MAX = 10_000;

type Bytes = Uint8Array<ArrayBuffer>;
type AccountColumns = [
  no: number,
  record: string,
  period: string,
  balanceMicro: number,
  used: number,
  allowanceUsed: number,
  newestMs: number,
  window: Bytes,
];
type HeldColumns = [
  id: string,
  keyId: string,
  untilMs: number,
  characters: number,
  priceMicro: number,
  period: number,
  ofAllowance: number,
  tickets: string | null,
  tag: string | null,
];
type KeyColumns = [no: number, record: string, lastUsedAtMs: number, newestMs: number, window: Bytes];

/** What every transaction of the ledger runs. It is run by `get`: `run` builds a result, which takes a quarter of a microsecond. */
function hotStatements(sql: Sql) {
  return {
    version: sql.prepared('PRAGMA data_version'),
    reserve: sql.prepared('INSERT INTO operations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'),
    settle: sql.prepared('DELETE FROM operations WHERE request_id = ? AND team = ?'),
    charge: sql.prepared(`INSERT INTO usage (team, key, period_no, day, characters, requests, micro, of_allowance)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET characters = characters + excluded.characters,
        requests = requests + excluded.requests, micro = micro + excluded.micro, of_allowance = of_allowance + excluded.of_allowance`),
    write: sql.prepared(`UPDATE accounts SET balance_micro = ?, used_characters = ?, allowance_used = ?, window_newest_ms = ?, window = ?
      WHERE team = ?`),
    writeKey: sql.prepared('UPDATE key_accounts SET last_used_at_ms = ?, window_newest_ms = ?, window = ? WHERE team = ? AND key = ?'),
  };
}
type HotStatements = ReturnType<typeof hotStatements>;

export interface OpenAccount {
  readonly account: Account;
  readonly rows: AccountRowsInFile;
}

export class SqliteAccounts {
  readonly #sql: Sql;
  readonly #hot: HotStatements;
  readonly #writes: SharedWrites;
  readonly #open = new Map<string, OpenAccount>();
  readonly #touched = new Set<OpenAccount>();
  readonly #clock: Clock;
  #version: SQLOutputValue = null;
  #prolongedMs: number;

  constructor(sql: Sql, writes: SharedWrites, clock: Clock) {
    [this.#sql, this.#hot, this.#writes, this.#clock] = [sql, hotStatements(sql), writes, clock];
    this.#prolongedMs = clock.setForwardMs ?? 0;
  }

  /** At the beginning of a transaction. */
  begin(): void {
    const [version] = this.#hot.version.get() as unknown as [SQLOutputValue];
    if (version !== this.#version || this.#open.size > TEAMS_MAX) this.forget();
    this.#version = version;
  }

  /** After a rollback, or once anything else has written to these tables. */
  forget(): void {
    this.#open.clear();
    this.#touched.clear();
  }

  /** Brought up to date; what an operation changes of it is written at the end of the transaction. */
  account(teamId: string, nowMs: number): OpenAccount | undefined {
    const { setForwardMs = 0 } = this.#clock;
    if (setForwardMs !== this.#prolongedMs) this.#prolong(setForwardMs);
    const open = this.#open.get(teamId) ?? this.read(teamId);
    if (open === undefined) return undefined;
    this.#open.set(teamId, open);
    this.#touched.add(open);
    open.account.catchUp(nowMs);
    return open;
  }

  /** What is in flight has as long as it had before the clock was set. */
  #prolong(setForwardMs: number): void {
    this.flush();
    this.#sql.write('UPDATE operations SET until_ms = until_ms + ?', setForwardMs - this.#prolongedMs);
    this.#prolongedMs = setForwardMs;
    this.forget();
  }

  /** The number of a team that exists. */
  numberOf(teamId: string): number | undefined {
    return this.#sql.row<[no: number]>(`SELECT no FROM teams WHERE team_id = ? AND erasure = ${NOT_ERASED}`, teamId)?.[0];
  }

  /** Writes the rows of a team that is made, or replaced; without counts, only its usage is left. Returns how the others are written. */
  put(team: Team, counts: AccountCounts | undefined, openingMicro = 0): AccountRowsInFile {
    const [no] = this.#sql.row<[no: number]>(
      `INSERT INTO teams (team_id, record, period, erasure, opening_micro) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (team_id) DO UPDATE SET record = excluded.record, period = excluded.period, erasure = excluded.erasure,
         opening_micro = excluded.opening_micro RETURNING no`,
      team.teamId,
      recordOf(team),
      counts === undefined ? null : JSON.stringify(counts.period),
      counts === undefined ? ONLY_USAGE_LEFT : NOT_ERASED,
      openingMicro,
    )!;
    if (counts !== undefined) {
      const { balanceMicro, used, allowanceUsed, slots } = counts;
      const values = [balanceMicro, used, allowanceUsed, slots.newestMs, slots.packed()];
      this.#sql.write('INSERT OR REPLACE INTO accounts VALUES (?, ?, ?, ?, ?, ?)', no, ...values);
    }
    return new AccountRowsInFile(this.#sql, this.#hot, no, this.#writes);
  }

  /** As it is stored, and no longer in memory. */
  read(teamId: string): OpenAccount | undefined {
    const columns = this.#sql.row<AccountColumns>(
      `SELECT t.no, t.record, t.period, a.balance_micro, a.used_characters, a.allowance_used, a.window_newest_ms, a.window
       FROM teams t JOIN accounts a ON a.team = t.no WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`,
      teamId,
    );
    if (columns === undefined) return undefined;
    const [no, record, period, balanceMicro, used, allowanceUsed, newestMs, window] = columns;
    const slots = new Slots(window, newestMs);
    const counts: AccountCounts = { balanceMicro, period: JSON.parse(period) as RunningPeriod, used, allowanceUsed, slots };
    const held = this.#sql.rows<HeldColumns>(
      `SELECT o.request_id, k.key_id, o.until_ms, o.characters, o.price_micro, o.period_no, o.of_allowance, o.tickets, o.tag
       FROM operations o JOIN keys k ON k.no = o.key WHERE o.team = ?`,
      no,
    );
    const reservations = new Map(held.map((one): [string, HeldReservation] => [one[0], heldOf(one)]));
    const rows = new AccountRowsInFile(this.#sql, this.#hot, no, this.#writes);
    rows.account = new Account({ ...(JSON.parse(record) as Team), balanceMicro }, counts, reservations, rows);
    return { account: rows.account, rows };
  }

  /** Writes what has changed; called before a COMMIT, and before rows are read otherwise. */
  flush(): void {
    for (const { account, rows } of this.#touched) {
      const { no } = rows;
      const { balanceMicro, used, allowanceUsed, slots, period } = account.counts;
      rows.flush();
      if (account.isTeamChanged || account.isPeriodChanged)
        this.#sql.write('UPDATE teams SET record = ?, period = ? WHERE no = ?', recordOf(account.team), JSON.stringify(period), no);
      if (account.isChanged) this.#hot.write.get(balanceMicro, used, allowanceUsed, slots.newestMs, slots.packed(), no);
      account.isChanged = account.isTeamChanged = account.isPeriodChanged = false;
    }
    this.#touched.clear();
  }
}

const RECORD = 'SELECT value FROM records WHERE team = ? AND kind = ? AND id = ?';

function recordOf({ balanceMicro: _balance, ...record }: Team): string {
  return JSON.stringify(record);
}

/** The rows of a team, as its account reads and writes them; what a whole account and a new key are written with, too. */
class AccountRowsInFile implements TeamRows {
  readonly #sql: Sql;
  readonly #hot: HotStatements;
  /** Of the team's own row. */
  readonly no: number;
  readonly #writes: SharedWrites;
  readonly #keys = new Map<string, number>();
  /** What is charged in this transaction, by key, period and day. */
  readonly #charges = new Map<string, { -readonly [Name in keyof ChargeRow]: ChargeRow[Name] }>();
  /** Set once it is made. */
  account!: Account;

  constructor(sql: Sql, hot: HotStatements, no: number, writes: SharedWrites) {
    [this.#sql, this.#hot, this.no, this.#writes] = [sql, hot, no, writes];
  }

  key(keyId: string): ReturnType<TeamRows['key']> {
    const columns = this.#key(keyId);
    if (columns === undefined) return undefined;
    const [no, record, lastUsedAtMs, newestMs, window] = columns;
    this.#keys.set(keyId, no);
    const period = this.account.counts.period.number;
    const [characters, requests] = this.#sql.row<[characters: number, requests: number]>(
      'SELECT coalesce(sum(characters), 0), coalesce(sum(requests), 0) FROM usage WHERE team = ? AND key = ? AND period_no = ?',
      this.no,
      no,
      period,
    )!;
    const slots = new Slots(window, newestMs);
    const use = { lastUsedAtMs: lastUsedAtMs === 0 ? undefined : lastUsedAtMs, period, characters, requests, slots };
    return { record: JSON.parse(record) as KeyRecord, use };
  }

  #key(keyId: string): KeyColumns | undefined {
    return this.#sql.row<KeyColumns>(
      `SELECT k.no, k.record, u.last_used_at_ms, u.window_newest_ms, u.window
       FROM keys k JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.key_id = ? AND k.team = ?`,
      keyId,
      this.no,
    );
  }

  windowCounts(subject: WindowSubject): StoredCounts | undefined {
    const counts = this.#record('windows', subject);
    return counts === undefined ? undefined : (JSON.parse(counts) as StoredCounts);
  }

  open(requestId: string, { untilMs, keyId, characters, priceMicro, period, ofAllowance, tickets, tag }: HeldReservation): void {
    const json = (value: object | undefined): string | null => (value === undefined ? null : JSON.stringify(value));
    const values = [characters, priceMicro, period, ofAllowance ? 1 : 0, json(tickets), json(tag)] as const;
    this.#hot.reserve.get(requestId, this.no, untilMs, this.#numberOf(keyId), ...values);
  }

  close(requestId: string): void {
    this.#hot.settle.get(requestId, this.no);
  }

  charge({ keyId, day, period, characters, micro, ofAllowance }: KeyCharge): void {
    const name = `${keyId} ${period} ${day}`;
    let sum = this.#charges.get(name);
    if (sum === undefined) this.#charges.set(name, (sum = { keyId, day, period, characters: 0, requests: 0, micro: 0, ofAllowance: 0 }));
    sum.characters += characters;
    sum.requests++;
    sum.micro += micro;
    if (ofAllowance) sum.ofAllowance += characters;
  }

  /** Adds to what is charged already. */
  putCharge({ keyId, day, period, characters, requests, micro, ofAllowance }: ChargeRow): void {
    this.#hot.charge.get(this.no, this.#numberOf(keyId), period, day, characters, requests, micro, ofAllowance);
  }

  pairs(glossaryId: string) {
    const text = this.#record('pairs', glossaryId);
    return text === undefined ? undefined : readPairs(text);
  }

  readonly tags = {
    get: (table: TagTable, name: string): string | undefined => this.#record(table, name),
    put: (table: TagTable, name: string, value: string): void => this.putRecord(table, name, value),
    count: (): number => this.#sql.row<[number]>("SELECT count(*) FROM records WHERE team = ? AND kind = 'tag_counts'", this.no)![0],
  };

  isCharged(period: number): boolean {
    this.flush();
    return this.#sql.row('SELECT 1 FROM usage WHERE team = ? AND period_no = ? LIMIT 1', this.no, period) !== undefined;
  }

  endPeriod(ended: EndedPeriod): void {
    this.#sql.write('INSERT OR REPLACE INTO periods VALUES (?, ?, ?)', this.no, ended.number, JSON.stringify(ended));
  }

  /** The audit entry and the event of a change, made with it. */
  changed(before: Team | undefined, after: Team, by: Audited | undefined, nowMs: number): void {
    const [difference, event] = reportOf(before, after);
    if (difference === undefined) return;
    this.#writes.event(after.teamId, event, nowMs);
    if (by !== undefined) this.#writes.audit(by, { teamId: after.teamId, ...difference }, nowMs);
  }

  keyIds(): readonly string[] {
    return this.#sql.rows<[keyId: string]>('SELECT key_id FROM keys WHERE team = ? ORDER BY no', this.no).map(([keyId]) => keyId);
  }

  changes(): ReadonlyMap<string, RememberedChange> {
    const found = this.#sql.rows<[id: string, value: string]>("SELECT id, value FROM records WHERE team = ? AND kind = 'changes'", this.no);
    return new Map(found.map(([id, text]) => [id, JSON.parse(text) as RememberedChange]));
  }

  putChange(id: string, change?: RememberedChange): void {
    if (change === undefined) this.#sql.write("DELETE FROM records WHERE team = ? AND kind = 'changes' AND id = ?", this.no, id);
    else this.putRecord('changes', id, JSON.stringify(change));
  }

  addKey(record: Omit<KeyRecord, 'lastUsedAtMs'>, digest: KeyDigest | undefined, lastUsedAtMs = 0, slots = new Slots()): void {
    const [own] = this.#sql.row<[no: number]>(
      'INSERT INTO keys (key_id, team, digest, record) VALUES (?, ?, ?, ?) RETURNING no',
      record.keyId,
      this.no,
      digest ?? null,
      JSON.stringify(record),
    )!;
    this.#sql.write('INSERT INTO key_accounts VALUES (?, ?, ?, ?, ?)', this.no, own, lastUsedAtMs, slots.newestMs, slots.packed());
    this.#keys.set(record.keyId, own);
  }

  putRecord(kind: string, id: string, value: string): void {
    this.#sql.write('INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?)', this.no, kind, id, value);
  }

  #record(kind: string, id: string): string | undefined {
    return this.#sql.row<[value: string]>(RECORD, this.no, kind, id)?.[0];
  }

  #numberOf(keyId: string): number {
    const no = this.#keys.get(keyId) ?? this.#key(keyId)![0];
    this.#keys.set(keyId, no);
    return no;
  }

  /** Charges, and what keys and windows have used. */
  flush(): void {
    for (const sum of this.#charges.values()) this.putCharge(sum);
    this.#charges.clear();
    for (const key of this.account.keys.values()) {
      if (!key.isChanged) continue;
      const { lastUsedAtMs = 0, slots } = key.use;
      this.#hot.writeKey.get(lastUsedAtMs, slots.newestMs, slots.packed(), this.no, this.#numberOf(key.record.keyId));
      key.isChanged = false;
    }
    for (const [subject, counts] of this.account.windowCounts) {
      if (!counts.changed) continue;
      this.putRecord('windows', subject, JSON.stringify(counts.stored()));
      counts.changed = false;
    }
  }
}

function heldOf([, keyId, untilMs, characters, priceMicro, period, ofAllowance, tickets, tag]: HeldColumns): HeldReservation {
  return {
    keyId,
    untilMs,
    characters,
    priceMicro,
    period,
    ofAllowance: ofAllowance === 1,
    tickets: tickets === null ? undefined : (JSON.parse(tickets) as WindowTickets),
    tag: tag === null ? undefined : (JSON.parse(tag) as RequestTag),
  };
}
