// Teams' accounts between transactions: each is read once and stays in memory until another process has written to the file, and
// what operations have changed is written once, before the COMMIT.
import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { teamDifference } from '../../domain/audit-entry.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import type { StoredCounts, WindowSubject, WindowTickets } from '../../domain/window-limits.ts';
import { Account } from '../../ledger/account.ts';
import type { AccountCounts, AccountRows, HeldReservation, KeyCharge } from '../../ledger/account.ts';
import { Slots } from '../../ledger/rate.ts';
import type { TagTable } from '../../ledger/tag-account.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyRecord, Team } from '../../ports/team-registry.ts';
import { readPairs } from '../records/glossary-record.ts';
import { teamEvent } from '../records/event-record.ts';
import { NOT_ERASED } from './schema.ts';
import type { SharedWrites } from './sqlite-records.ts';
import { prepared, tuples } from './statements.ts';
import type { Statements } from './statements.ts';

/** About a kilobyte each. All are dropped when there are more. */
const TEAMS_MAX = 10_000;

type BooksRow = [
  no: number,
  record: string,
  balanceMicro: number,
  periodNo: number,
  startMs: number,
  endMs: number,
  anchorMs: number,
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
  team: tuples<BooksRow>(`SELECT t.no, t.record, b.balance_micro, b.period_no, b.period_start_ms, b.period_end_ms, b.anchor_ms,
      b.used_characters, b.allowance_used, b.window_newest_ms, b.window
    FROM teams t JOIN accounts b ON b.team = t.no WHERE t.team_id = ? AND t.erasure = ${NOT_ERASED}`),
  open: tuples<HeldRow>(`SELECT o.request_id, o.until_ms, k.key_id, o.characters, o.price_micro, o.period_no, o.of_allowance, o.tickets, o.tag
    FROM operations o JOIN keys k ON k.no = o.key WHERE o.team = ?`),
  key: tuples<KeyRow>(`SELECT k.no, k.record, u.last_used_at_ms, u.window_newest_ms, u.window
    FROM keys k JOIN key_accounts u ON u.team = k.team AND u.key = k.no WHERE k.key_id = ? AND k.team = ?`),
  keyUsage: tuples<[characters: number, requests: number]>(
    'SELECT coalesce(sum(characters), 0), coalesce(sum(requests), 0) FROM usage WHERE team = ? AND key = ? AND period_no = ?',
  ),
  writeTeam: 'UPDATE teams SET name = ?, reference = ?, record = ? WHERE no = ?',
  write: 'UPDATE accounts SET balance_micro = ?, used_characters = ?, allowance_used = ?, window_newest_ms = ?, window = ? WHERE team = ?',
  enterPeriod: 'UPDATE accounts SET period_no = ?, period_start_ms = ?, period_end_ms = ?, anchor_ms = ? WHERE team = ?',
  writeKey: 'UPDATE key_accounts SET last_used_at_ms = ?, window_newest_ms = ?, window = ? WHERE team = ? AND key = ?',
  windowCounts: tuples<[counts: string]>('SELECT counts FROM window_counts WHERE team = ? AND subject = ?'),
  writeWindowCounts: 'INSERT OR REPLACE INTO window_counts (team, subject, counts) VALUES (?, ?, ?)',
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
  endPeriod: 'UPDATE periods SET end_ms = ?, plan = ?, limits = ? WHERE team = ? AND no = ?',
  // Idle teams with short periods would otherwise fill the file.
  dropIfUnused: `DELETE FROM periods WHERE team = $team AND no = $no AND added_micro + deducted_micro = 0
    AND NOT EXISTS (SELECT 1 FROM usage u WHERE u.team = $team AND u.period_no = $no)
    AND NOT EXISTS (SELECT 1 FROM operations o WHERE o.team = $team AND o.period_no = $no)`,
  beginPeriod: 'INSERT INTO periods (team, no, start_ms, end_ms) VALUES (?, ?, ?, ?)',
};

/** An account with the number of its row. */
export interface OpenAccount {
  readonly no: number;
  readonly account: Account;
  readonly rows: AccountRows & { flush(): void };
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

  /** As it is stored, and no longer in memory. */
  read(teamId: string): OpenAccount | undefined {
    const row = this.#sql.team.get(teamId);
    if (row === undefined) return undefined;
    const [no, record, balanceMicro, number, startMs, endMs, anchorMs, used, allowanceUsed, newestMs, window] = row;
    const held = this.#sql.open.all(no).map((one): [string, HeldReservation] => [one[0], heldOf(one)]);
    const counts: AccountCounts = {
      balanceMicro,
      period: { number, startMs, endMs, anchorMs },
      used,
      allowanceUsed,
      slots: new Slots(window, newestMs),
    };
    const rows = new TeamRows(this.#sql, no, this.#writes);
    const account = new Account({ ...(JSON.parse(record) as Team), balanceMicro }, counts, new Map(held), rows);
    rows.account = account;
    return { no, account, rows };
  }

  /** Writes what has changed; called before a COMMIT, and before rows are read otherwise. */
  flush(): void {
    for (const { no, account, rows } of this.#touched) {
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
      account.isChanged = account.isTeamChanged = false;
    }
    this.#touched.clear();
  }
}

/** The rows of a team, as its account reads and writes them. */
class TeamRows implements AccountRows {
  readonly #sql: Statements<typeof SQL>;
  readonly #no: number;
  readonly #writes: SharedWrites;
  readonly #keys = new Map<string, number>();
  /** What is charged in this transaction, by key, period and day. */
  readonly #charges = new Map<string, { readonly charge: KeyCharge; characters: number; requests: number; micro: number; free: number }>();
  /** Set once it is made. */
  account!: Account;

  constructor(sql: Statements<typeof SQL>, no: number, writes: SharedWrites) {
    [this.#sql, this.#no, this.#writes] = [sql, no, writes];
  }

  key(keyId: string): ReturnType<AccountRows['key']> {
    const row = this.#sql.key.get(keyId, this.#no);
    if (row === undefined) return undefined;
    const [no, record, lastUsedAtMs, newestMs, window] = row;
    this.#keys.set(keyId, no);
    const period = this.account.counts.period.number;
    const [characters, requests] = this.#sql.keyUsage.get(this.#no, no, period)!;
    const slots = new Slots(window, newestMs);
    const use = { lastUsedAtMs: lastUsedAtMs === 0 ? undefined : lastUsedAtMs, period, characters, requests, slots };
    return { record: JSON.parse(record) as KeyRecord, use };
  }

  windowCounts(subject: WindowSubject): StoredCounts | undefined {
    const [counts] = this.#sql.windowCounts.get(this.#no, subject) ?? [];
    return counts === undefined ? undefined : (JSON.parse(counts) as StoredCounts);
  }

  open(requestId: string, { untilMs, keyId, characters, priceMicro, period, ofAllowance, tickets, tag }: HeldReservation): void {
    const written = tickets === undefined ? null : JSON.stringify(tickets);
    const values = [characters, priceMicro, period, ofAllowance ? 1 : 0, written, tag === undefined ? null : JSON.stringify(tag)] as const;
    this.#sql.reserve.get(requestId, this.#no, untilMs, this.#numberOf(keyId), ...values);
  }

  close(requestId: string): void {
    this.#sql.settle.get(requestId, this.#no);
  }

  charge(charge: KeyCharge): void {
    const name = `${charge.keyId} ${charge.period} ${charge.day}`;
    let sum = this.#charges.get(name);
    if (sum === undefined) this.#charges.set(name, (sum = { charge, characters: 0, requests: 0, micro: 0, free: 0 }));
    sum.characters += charge.characters;
    sum.requests++;
    sum.micro += charge.micro;
    if (charge.ofAllowance) sum.free += charge.characters;
  }

  pairs(glossaryId: string) {
    const [text] = this.#sql.record.get(this.#no, 'pairs', glossaryId) ?? [];
    return text === undefined ? undefined : readPairs(text);
  }

  readonly tags = {
    get: (table: TagTable, name: string): string | undefined => this.#sql.record.get(this.#no, table, name)?.[0],
    put: (table: TagTable, name: string, value: string): void => void this.#sql.putRecord.get(this.#no, table, name, value),
    count: (): number => this.#sql.countTags.get(this.#no)![0],
  };

  endPeriod({ plan, limits }: Team, number: number, endMs: number): void {
    this.flush();
    this.#sql.endPeriod.run(endMs, plan, JSON.stringify(limits), this.#no, number);
    this.#sql.dropIfUnused.run({ $team: this.#no, $no: number });
  }

  beginPeriod({ number, startMs, endMs, anchorMs }: AccountCounts['period']): void {
    this.#sql.beginPeriod.run(this.#no, number, startMs, endMs);
    this.#sql.enterPeriod.run(number, startMs, endMs, anchorMs, this.#no);
  }

  planTookEffect(before: Team, after: Team, nowMs: number): void {
    const difference = teamDifference(before, after);
    this.#writes.event(after.teamId, teamEvent('team_updated', after), nowMs);
    const by = before.nextPlan?.by;
    if (by !== undefined && difference !== undefined) this.#writes.audit(by, { teamId: after.teamId, ...difference }, nowMs);
  }

  #numberOf(keyId: string): number {
    const known = this.#keys.get(keyId);
    if (known !== undefined) return known;
    const [no] = this.#sql.key.get(keyId, this.#no)!;
    this.#keys.set(keyId, no);
    return no;
  }

  /** Charges, and what keys and windows have used. */
  flush(): void {
    for (const { charge, characters, requests, micro, free } of this.#charges.values())
      this.#sql.charge.get(this.#no, this.#numberOf(charge.keyId), charge.period, charge.day, characters, requests, micro, free);
    this.#charges.clear();
    for (const key of this.account.keys.values()) {
      if (!key.isChanged) continue;
      const { lastUsedAtMs = 0, slots } = key.use;
      this.#sql.writeKey.get(lastUsedAtMs, slots.newestMs, slots.packed(), this.#no, this.#numberOf(key.record.keyId));
      key.isChanged = false;
    }
    for (const [subject, counts] of this.account.windowCounts) {
      if (!counts.changed) continue;
      this.#sql.writeWindowCounts.get(this.#no, subject, JSON.stringify(counts.stored()));
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
