// Teams' accounts between transactions: each is read once and stays in memory until another process has written to the file, and
// what operations have changed is written once, before the COMMIT.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import type { AuditDifference, Audited } from '../../domain/audit-entry.ts';
import type { KeyDigest } from '../../domain/api-key.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { StoredCounts, WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import { Account } from '../../ledger/account.ts';
import type { AccountCounts, HeldReservation, KeyCharge } from '../../ledger/account.ts';
import { Slots } from '../../ledger/rate.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import type { Clock } from '../../ports/clock.ts';
import type { NewEvent } from '../../ports/record-space.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';
import type { ChargeRow, EndedPeriod } from '../../ports/usage-history.ts';
import { readPairs } from '../records/glossary-record.ts';
import { reportOf } from '../records/team-registry.ts';
import type { RememberedChange, TeamRows } from '../records/team-registry.ts';
import { NOT_ERASED, ONLY_USAGE_LEFT } from './schema.ts';
import type { SharedWrites } from './sqlite-records.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

/** About a kilobyte each. All are dropped when there are more. */
const TEAMS_MAX = 10_000;

type AccountRow = [
  no: number,
  record: string,
  balanceMicro: number,
  periodNo: number,
  startMs: number,
  endMs: number,
  anchorMs: number,
  addedMicro: number,
  deductedMicro: number,
  used: number,
  allowanceUsed: number,
  newestMs: number,
  window: Uint8Array<ArrayBuffer>,
];
type HeldRow = [
  id: string,
  untilMs: number,
  keyId: string,
  characters: number,
  priceMicro: number,
  periodNo: number,
  ofAllowance: number,
  tickets: string | null,
  tag: string | null,
];
type KeyRow = [no: number, record: string, lastUsedAtMs: number, newestMs: number, window: Uint8Array<ArrayBuffer>];

const SQL = {
  version: tuples<[SQLOutputValue]>('PRAGMA data_version'),
  team: tuples<AccountRow>(`SELECT t.no, t.record, a.balance_micro, a.period_no, a.period_start_ms, a.period_end_ms, a.anchor_ms,
      a.added_micro, a.deducted_micro, a.used_characters, a.allowance_used, a.window_newest_ms, a.window
    FROM teams t JOIN accounts a ON a.team = t.no WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`),
  open: tuples<HeldRow>(`SELECT o.request_id, o.until_ms, k.key_id, o.characters, o.price_micro, o.period_no, o.of_allowance, o.tickets, o.tag
    FROM operations o JOIN keys k ON k.no = o.key WHERE o.team = ?`),
  key: tuples<KeyRow>(`SELECT k.no, k.record, u.last_used_at_ms, u.window_newest_ms, u.window
    FROM keys k JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.key_id = ? AND k.team = ?`),
  keyUsage: tuples<[characters: number, requests: number]>(
    'SELECT coalesce(sum(characters), 0), coalesce(sum(requests), 0) FROM usage WHERE team = ? AND key = ? AND period_no = ?',
  ),
  putTeam: tuples<[no: number]>(`INSERT INTO teams (team_id, name, reference, record, erasure, opening_micro) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT (team_id) DO UPDATE SET name = excluded.name, reference = excluded.reference, record = excluded.record,
      erasure = excluded.erasure, opening_micro = excluded.opening_micro RETURNING no`),
  putAccount: `INSERT OR REPLACE INTO accounts (team, balance_micro, period_no, period_start_ms, period_end_ms, anchor_ms, added_micro,
    deducted_micro, used_characters, allowance_used, window_newest_ms, window) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  insertKey: tuples<[no: number]>('INSERT INTO keys (key_id, team, digest, display, mode, record) VALUES (?, ?, ?, ?, ?, ?) RETURNING no'),
  insertKeyAccount: 'INSERT INTO key_accounts (team, key, last_used_at_ms, window_newest_ms, window) VALUES (?, ?, ?, ?, ?)',
  writeTeam: 'UPDATE teams SET name = ?, reference = ?, record = ? WHERE no = ?',
  write: 'UPDATE accounts SET balance_micro = ?, used_characters = ?, allowance_used = ?, window_newest_ms = ?, window = ? WHERE team = ?',
  writePeriod: `UPDATE accounts SET period_no = ?, period_start_ms = ?, period_end_ms = ?, anchor_ms = ?, added_micro = ?, deducted_micro = ?
    WHERE team = ?`,
  writeKey: 'UPDATE key_accounts SET last_used_at_ms = ?, window_newest_ms = ?, window = ? WHERE team = ? AND key = ?',
  keyIds: tuples<[keyId: string]>('SELECT key_id FROM keys WHERE team = ? ORDER BY no'),
  charge: `INSERT INTO usage (team, key, period_no, day, characters, requests, micro, of_allowance) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET characters = characters + excluded.characters, requests = requests + excluded.requests,
      micro = micro + excluded.micro, of_allowance = of_allowance + excluded.of_allowance`,
  reserve: `INSERT INTO operations (request_id, team, until_ms, key, characters, price_micro, period_no, of_allowance, tickets, tag)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  prolong: 'UPDATE operations SET until_ms = until_ms + ?',
  settle: 'DELETE FROM operations WHERE request_id = ? AND team = ?',
  record: tuples<[value: string]>('SELECT value FROM records WHERE team = ? AND kind = ? AND id = ?'),
  putRecord: 'INSERT OR REPLACE INTO records (team, kind, id, value) VALUES (?, ?, ?, ?)',
  countTags: tuples<[count: number]>("SELECT count(*) FROM records WHERE team = ? AND kind = 'tag_counts'"),
  records: tuples<[id: string, value: string]>('SELECT id, value FROM records WHERE team = ? AND kind = ?'),
  removeRecord: 'DELETE FROM records WHERE team = ? AND kind = ? AND id = ?',
  isCharged: 'SELECT 1 FROM usage WHERE team = ? AND period_no = ? LIMIT 1',
};

export interface OpenAccount {
  readonly account: Account;
  readonly rows: FileRows;
}

/** The rows of a team; what a whole account and a new key are written with, too. */
interface FileRows extends TeamRows {
  /** Of the team's own row. */
  readonly no: number;
  addKey(record: Omit<KeyRecord, 'lastUsedAtMs'>, digest: KeyDigest | undefined, lastUsedAtMs?: number, slots?: Slots): void;
  /** Adds to what is charged already. */
  putCharge(charge: ChargeRow): void;
  putRecord(kind: string, id: string, value: string): void;
  flush(): void;
}

export class SqliteAccounts {
  readonly #sql: Statements<typeof SQL>;
  readonly #writes: SharedWrites;
  readonly #open = new Map<string, OpenAccount>();
  readonly #touched = new Set<OpenAccount>();
  readonly #clock: Clock;
  #version: SQLOutputValue = null;
  #prolongedMs: number;

  constructor(database: DatabaseSync, writes: SharedWrites, clock: Clock) {
    this.#sql = prepared(database, SQL);
    this.#writes = writes;
    this.#clock = clock;
    this.#prolongedMs = clock.setForwardMs ?? 0;
  }

  /** At the beginning of a transaction. */
  begin(): void {
    const version = this.#sql.version.get()![0];
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
    const open = this.#open.get(teamId) ?? this.#keep(teamId, this.read(teamId));
    if (open === undefined) return undefined;
    this.#touched.add(open);
    open.account.catchUp(nowMs);
    return open;
  }

  /** What is in flight has as long as it had before the clock was set. */
  #prolong(setForwardMs: number): void {
    this.flush();
    this.#sql.prolong.run(setForwardMs - this.#prolongedMs);
    this.#prolongedMs = setForwardMs;
    this.forget();
  }

  #keep(teamId: string, open: OpenAccount | undefined): OpenAccount | undefined {
    if (open !== undefined) this.#open.set(teamId, open);
    return open;
  }

  /** Writes the rows of a team that is made, or replaced; without counts, only its usage is left. Returns how the others are written. */
  put({ balanceMicro, ...record }: Team, counts: AccountCounts | undefined, openingMicro = 0): FileRows {
    const { teamId, name, reference = null } = record;
    const erasure = counts === undefined ? ONLY_USAGE_LEFT : NOT_ERASED;
    const [no] = this.#sql.putTeam.get(teamId, name, reference, JSON.stringify(record), erasure, openingMicro)!;
    if (counts !== undefined) {
      const { period, used, allowanceUsed, slots } = counts;
      const { number, startMs, endMs, anchorMs, addedMicro, deductedMicro } = period;
      const columns = [number, startMs, endMs, anchorMs, addedMicro, deductedMicro, used, allowanceUsed, slots.newestMs] as const;
      this.#sql.putAccount.run(no, balanceMicro, ...columns, slots.packed());
    }
    return new WrittenRows(this.#sql, no, this.#writes);
  }

  /** As it is stored, and no longer in memory. */
  read(teamId: string): OpenAccount | undefined {
    const row = this.#sql.team.get(teamId);
    if (row === undefined) return undefined;
    const [no, record, balanceMicro, number, startMs, endMs, anchorMs, addedMicro, deductedMicro, used, allowanceUsed, newestMs, window] =
      row;
    const held = this.#sql.open.all(no).map((one): [string, HeldReservation] => [one[0], heldOf(one)]);
    const counts: AccountCounts = {
      balanceMicro,
      period: { number, startMs, endMs, anchorMs, addedMicro, deductedMicro },
      used,
      allowanceUsed,
      slots: new Slots(window, newestMs),
    };
    const rows = new WrittenRows(this.#sql, no, this.#writes);
    const account = new Account({ ...(JSON.parse(record) as Team), balanceMicro }, counts, new Map(held), rows);
    rows.account = account;
    return { account, rows };
  }

  /** Writes what has changed; called before a COMMIT, and before rows are read otherwise. */
  flush(): void {
    for (const { account, rows } of this.#touched) {
      const { no } = rows;
      rows.flush();
      if (account.isTeamChanged) {
        const { balanceMicro: _balance, ...record } = account.team;
        this.#sql.writeTeam.run(record.name, record.reference ?? null, JSON.stringify(record), no);
      }
      if (account.isChanged) {
        const { balanceMicro, used, allowanceUsed, slots } = account.counts;
        // `get`, because `run` builds a result, which takes a quarter of a microsecond.
        this.#sql.write.get(balanceMicro, used, allowanceUsed, slots.newestMs, slots.packed(), no);
      }
      if (account.isPeriodChanged) {
        const { number, startMs, endMs, anchorMs, addedMicro, deductedMicro } = account.counts.period;
        this.#sql.writePeriod.run(number, startMs, endMs, anchorMs, addedMicro, deductedMicro, no);
      }
      account.isChanged = account.isTeamChanged = account.isPeriodChanged = false;
    }
    this.#touched.clear();
  }
}

/** The rows of a team, as its account reads and writes them. */
class WrittenRows implements FileRows {
  readonly #sql: Statements<typeof SQL>;
  readonly no: number;
  readonly #writes: SharedWrites;
  readonly #keys = new Map<string, number>();
  /** What is charged in this transaction, by key, period and day. */
  readonly #charges = new Map<string, { -readonly [Name in keyof ChargeRow]: ChargeRow[Name] }>();
  /** Set once it is made. */
  account!: Account;

  constructor(sql: Statements<typeof SQL>, no: number, writes: SharedWrites) {
    [this.#sql, this.no, this.#writes] = [sql, no, writes];
  }

  key(keyId: string): ReturnType<TeamRows['key']> {
    const row = this.#sql.key.get(keyId, this.no);
    if (row === undefined) return undefined;
    const [no, record, lastUsedAtMs, newestMs, window] = row;
    this.#keys.set(keyId, no);
    const period = this.account.counts.period.number;
    const [characters, requests] = this.#sql.keyUsage.get(this.no, no, period)!;
    const slots = new Slots(window, newestMs);
    const use = { lastUsedAtMs: lastUsedAtMs === 0 ? undefined : lastUsedAtMs, period, characters, requests, slots };
    return { record: JSON.parse(record) as KeyRecord, use };
  }

  windowCounts(subject: WindowSubject): StoredCounts | undefined {
    const [counts] = this.#sql.record.get(this.no, 'windows', subject) ?? [];
    return counts === undefined ? undefined : (JSON.parse(counts) as StoredCounts);
  }

  open(requestId: string, { untilMs, keyId, characters, priceMicro, period, ofAllowance, tickets, tag }: HeldReservation): void {
    const written = tickets === undefined ? null : JSON.stringify(tickets);
    const values = [characters, priceMicro, period, ofAllowance ? 1 : 0, written, tag === undefined ? null : JSON.stringify(tag)] as const;
    this.#sql.reserve.get(requestId, this.no, untilMs, this.#numberOf(keyId), ...values);
  }

  close(requestId: string): void {
    this.#sql.settle.get(requestId, this.no);
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

  putCharge({ keyId, day, period, characters, requests, micro, ofAllowance }: ChargeRow): void {
    this.#sql.charge.get(this.no, this.#numberOf(keyId), period, day, characters, requests, micro, ofAllowance);
  }

  pairs(glossaryId: string) {
    const [text] = this.#sql.record.get(this.no, 'pairs', glossaryId) ?? [];
    return text === undefined ? undefined : readPairs(text);
  }

  readonly tags = {
    get: (table: TagTable, name: string): string | undefined => this.#sql.record.get(this.no, table, name)?.[0],
    put: (table: TagTable, name: string, value: string): void => this.putRecord(table, name, value),
    count: (): number => this.#sql.countTags.get(this.no)![0],
  };

  isCharged(period: number): boolean {
    this.flush();
    return this.#sql.isCharged.get(this.no, period) !== undefined;
  }

  endPeriod(ended: EndedPeriod): void {
    this.putRecord('periods', String(ended.number), JSON.stringify(ended));
  }

  changed(before: Team | undefined, after: Team, by: Audited | undefined, nowMs: number): void {
    this.report(by, ...reportOf(before, after), nowMs);
  }

  /** The audit entry and the event of a change, made with it. */
  report(by: Audited | undefined, difference: AuditDifference | undefined, event: NewEvent | undefined, nowMs: number): void {
    if (difference === undefined) return;
    const { teamId } = this.account.team;
    if (event !== undefined) this.#writes.event(teamId, event, nowMs);
    if (by !== undefined) this.#writes.audit(by, { teamId, ...difference }, nowMs);
  }

  keyIds(): readonly string[] {
    return this.#sql.keyIds.all(this.no).map(([keyId]) => keyId);
  }

  changes(): ReadonlyMap<string, RememberedChange> {
    return new Map(this.#sql.records.all(this.no, 'changes').map(([id, text]) => [id, JSON.parse(text) as RememberedChange]));
  }

  putChange(id: string, change?: RememberedChange): void {
    if (change === undefined) this.#sql.removeRecord.get(this.no, 'changes', id);
    else this.putRecord('changes', id, JSON.stringify(change));
  }

  addKey(record: Omit<KeyRecord, 'lastUsedAtMs'>, digest: KeyDigest | undefined, lastUsedAtMs = 0, slots = new Slots()): void {
    const { keyId, display, mode } = record;
    const [own] = this.#sql.insertKey.get(keyId, this.no, digest ?? null, display, mode, JSON.stringify(record))!;
    this.#sql.insertKeyAccount.run(this.no, own, lastUsedAtMs, slots.newestMs, slots.packed());
    this.#keys.set(keyId, own);
  }

  putRecord(kind: string, id: string, value: string): void {
    this.#sql.putRecord.get(this.no, kind, id, value);
  }

  #numberOf(keyId: string): number {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    const [no] = this.#sql.key.get(keyId, this.no)!;
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
      this.#sql.writeKey.get(lastUsedAtMs, slots.newestMs, slots.packed(), this.no, this.#numberOf(key.record.keyId));
      key.isChanged = false;
    }
    for (const [subject, counts] of this.account.windowCounts) {
      if (!counts.changed) continue;
      this.putRecord('windows', subject, JSON.stringify(counts.stored()));
      counts.changed = false;
    }
  }
}

function heldOf([, untilMs, keyId, characters, priceMicro, period, ofAllowance, tickets, tag]: HeldRow): HeldReservation {
  return {
    untilMs,
    keyId,
    characters,
    priceMicro,
    period,
    ofAllowance: ofAllowance === 1,
    tickets: tickets === null ? undefined : (JSON.parse(tickets) as WindowTickets),
    tag: tag === null ? undefined : (JSON.parse(tag) as RequestTag),
  };
}
