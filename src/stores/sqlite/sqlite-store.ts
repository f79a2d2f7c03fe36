// The embedded store: one SQLite file, shared by the processes of one machine.
import type { DatabaseSync } from 'node:sqlite';
import { HISTORY_DAYS } from '../../domain/period.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Admission, AskedAdmission, AskedCheck, AskedResolution, CheckedCaller, Ledger, Resolution } from '../../ports/ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { WholeStoreParts } from '../../ports/plugin.ts';
import type { Store, StoreOpening } from '../../ports/store.ts';
import { toServe } from '../records/plugin-store.ts';
import { overRecords } from '../records/over-records.ts';
import { teamRegistry } from '../records/team-registry.ts';
import { rowHistory } from '../records/usage-rows.ts';
import { GroupCommit } from './group-commit.ts';
import { Janitor } from './janitor.ts';
import { openDatabase } from './open-database.ts';
import type { Durability } from './open-database.ts';
import { versionOf } from './schema.ts';
import { Sql } from './sql.ts';
import { SqliteAccounts } from './sqlite-accounts.ts';
import { sqliteBlobs } from './sqlite-blobs.ts';
import type { SqliteParts } from './sqlite-records.ts';
import { SharedWrites, sqliteRecords } from './sqlite-records.ts';
import { SqliteTeams } from './sqlite-teams.ts';
import { SqliteUsage } from './sqlite-usage.ts';
import { sqliteWholeAccounts } from './sqlite-whole-accounts.ts';
import { DatabaseFile, databaseFaultOf, looked, storeName, unavailable } from './store-fault.ts';
import { TeamErasure } from './team-erasure.ts';

export interface SqliteStoreOptions extends StoreOpening {
  /** A file, created with its directory if missing; `:memory:` persists nothing. */
  readonly path: string;
  /** The clock of this machine, which is the store's; judged if it is a `JudgedClock`. */
  readonly clock: Clock;
  /** `full` survives a power cut; with `normal`, a power cut may undo the last commits, but never damages the file. */
  readonly durability?: Durability | undefined;
  /** Whether this process cleans up what time alone ends, as one that serves does. */
  readonly cleansUp?: boolean | undefined;
}

/** A file in whole, and its ledger as gateways use it. */
export interface WholeFile extends WholeStoreParts {
  readonly database: DatabaseSync;
  readonly ledger: Ledger;
}

const COMMAND_TIMEOUT_MS = 500;

/** Rejects with a `StoreError` if the file cannot serve. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, clock, log, durability = 'full', events } = options;
  const file = wholeFile(await openDatabase(path, durability, options), options);
  return toServe(file, file.ledger, storeName(path), { clock, log, events });
}

/** The store in an open file. */
export function wholeFile(database: DatabaseSync, options: SqliteStoreOptions): WholeFile {
  const { path, log, clock, commandTimeoutMs = COMMAND_TIMEOUT_MS, historyDays = HISTORY_DAYS, cleansUp = true } = options;
  const file = new DatabaseFile(path);
  const sql = new Sql(database);
  const writes = new SharedWrites(sql);
  const accounts = new SqliteAccounts(sql, writes, clock);
  const group = new GroupCommit({ database, path, clock, log, busyTimeoutMs: commandTimeoutMs, behind: accounts });
  const parts: SqliteParts = { sql, path, clock, log, group, accounts, writes };
  const teams = new SqliteTeams(parts);
  const usage = new SqliteUsage(parts, teams);
  const blobs = sqliteBlobs(parts);
  const over = overRecords(sqliteRecords(parts, blobs), () => clock.nowMs(), historyDays);
  const erasure = new TeamErasure({ ...parts, ...over, blobs });
  const janitor = cleansUp ? new Janitor({ ...parts, ...over, blobs, historyDays }, erasure) : undefined;
  let closed: Promise<void> | undefined;
  return {
    database,
    ledger: sqliteLedger(parts),
    // Synchronous.
    keys: { find: (digest) => looked(path, () => teams.owner(digest)) },
    teams: teamRegistry(teams, over.records, (teamId, choice, by) => erasure.delete(teamId, choice, by)),
    accounts: sqliteWholeAccounts(parts, teams, usage, blobs),
    ...over,
    history: rowHistory(usage, () => clock.nowMs(), historyDays),
    ping: () => ping(parts, file),
    close() {
      janitor?.close();
      closed ??= group.close().then(() => closeDatabase(database, log));
      return closed;
    },
  };
}

const UNKNOWN = { kind: 'key_unknown' } as const;

/** Each operation is a step of a transaction that several share, on an account in memory (ledger/account.ts). */
function sqliteLedger({ group, accounts }: Pick<SqliteParts, 'group' | 'accounts'>): Ledger {
  const admit = (asked: AskedAdmission, nowMs: number): Admission =>
    accounts.account(asked.teamId, nowMs)?.account.admit(asked, nowMs) ?? UNKNOWN;
  const check = (asked: AskedCheck, nowMs: number): CheckedCaller =>
    accounts.account(asked.teamId, nowMs)?.account.check(asked, nowMs) ?? UNKNOWN;
  const resolve = ({ teamId, requestId, verdict, characters }: AskedResolution, nowMs: number): Resolution =>
    accounts.account(teamId, nowMs)?.account.resolve(requestId, verdict, nowMs, characters) ?? { kind: 'absent' };
  return {
    admit: (asked) => group.add(admit, asked, true),
    check: (asked) => group.add(check, asked, true),
    // No caller waits for a settlement: it shares the transaction of an admission or of other settlements.
    resolve: (asked) => group.add(resolve, asked, false),
  };
}

/**
 * Commits a write like an admission does, of an existing value: a store that cannot be written does not count as available, nor
 * does one whose file is no longer in its place.
 */
async function ping({ sql: { database }, group, path }: SqliteParts, file: DatabaseFile): Promise<StoreUnavailable | undefined> {
  const fault = await file.fault();
  group.setAway(fault);
  if (fault !== undefined) return unavailable(path, fault);
  return group.run(() => {
    database.exec(`PRAGMA user_version = ${versionOf(database)}`);
    return undefined;
  });
}

function closeDatabase(database: DatabaseSync, log: Log): void {
  try {
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  } catch (error) {
    // Another process uses the file: the WAL stays, and is read by the next process that opens it.
    log.warn('the WAL was not written back at the end', { cause: databaseFaultOf(error) ?? 'internal' });
  }
  database.close();
}
