// The embedded store: one SQLite file, shared by the processes of one machine.
import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS, HISTORY_DAYS } from '../../domain/period.ts';
import { NO_THRESHOLDS } from '../../domain/event-rules.ts';
import type { EventRules } from '../../domain/event-rules.ts';
import { JudgedClock, unjudgedClock } from '../../domain/judged-clock.ts';
import type { Clock } from '../../ports/clock.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Log } from '../../ports/log.ts';
import type { Store, StoreCreation } from '../../ports/store.ts';
import { overRecords } from '../records/over-records.ts';
import { LATEST, readMark, RecordClock } from '../records/record-clock.ts';
import { RecordOutbox } from '../records/record-outbox.ts';
import { Accounts } from './accounts.ts';
import { DatabaseFile } from './database-file.ts';
import { EventRows } from './event-rows.ts';
import { GroupCommit } from './group-commit.ts';
import { HistoryChores } from './history-chores.ts';
import { Janitor } from './janitor.ts';
import { KeyRows } from './key-rows.ts';
import { versionOf } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import type { Durability } from './open-database.ts';
import { NextPlans } from './next-plans.ts';
import { Periods } from './periods.ts';
import { RegistryWork } from './registry-work.ts';
import { RequestIds } from './request-ids.ts';
import { SqliteAuditLog } from './sqlite-audit-log.ts';
import { SqliteBlobs } from './sqlite-blobs.ts';
import { SqliteEvents } from './sqlite-events.ts';
import { SqliteLedger } from './sqlite-ledger.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { SqliteTeamRegistry } from './sqlite-team-registry.ts';
import { PeriodUsage, SqliteUsageHistory } from './sqlite-usage-history.ts';
import { prepared, tuples } from './statements.ts';
import { databaseFaultOf, looked, unavailable } from './store-fault.ts';
import type { StoreParts } from './store-parts.ts';
import { TeamErasure } from './team-erasure.ts';
import { TeamRows } from './team-rows.ts';

export interface SqliteStoreOptions {
  /** A file, created with its directory if missing; `:memory:` persists nothing. */
  readonly path: string;
  readonly log: Log;
  /** The clock of this machine, which is the store's; judged by the file as well if it is a `JudgedClock`. */
  readonly clock: Clock;
  /** `full` survives a power cut; with `normal`, a power cut may undo the last commits, but never damages the file. */
  readonly durability?: Durability | undefined;
  /** How long an operation may wait for other processes; after that it is answered `unavailable` without being run. */
  readonly busyTimeoutMs?: number | undefined;
  readonly creation?: StoreCreation;
  /** How many days usage and audit entries are kept. */
  readonly historyDays?: number | undefined;
  /** By default the rules of a gateway that sends events from this file; without one, no events are stored. */
  readonly events?: EventRules | undefined;
}

const BUSY_TIMEOUT_MS = 500;
const SQL = { latest: tuples<[value: string]>('SELECT value FROM shared_records WHERE kind = ? AND id = ?') };

/** Rejects with a `StoreError` if the file cannot serve. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, log, clock, durability = 'full', busyTimeoutMs = BUSY_TIMEOUT_MS, creation = {}, historyDays = HISTORY_DAYS } = options;
  const database = await openDatabase(path, durability, { ...creation, onMigrated: logMigration(log, creation) });
  compareAtOpen(database, clock);
  const file = new DatabaseFile(path);
  const accounts = new Accounts(database);
  const group = new GroupCommit({ database, path, clock, log, busyTimeoutMs, behind: accounts });
  const keys = new KeyRows(database, clock);
  const teams = new TeamRows(database);
  const usage = new PeriodUsage(database, teams, keys);
  const eventRows = new EventRows(database);
  const rules = options.events ?? eventRows.rulesInForce(clock.nowMs());
  const events = rules && new SqliteEvents({ database, accounts, usage, eventRows }, rules);
  const audit = new SqliteAuditLog(database, group, historyDays * DAY_MS);
  const periods = new Periods(database, accounts, new NextPlans({ database, accounts, teams, audit, events }), events);
  const ids = new RequestIds(database);
  const work = new RegistryWork({ group, accounts, periods });
  const blobs = new SqliteBlobs({ database, path, group, teams });
  const over = overRecords(new SqliteRecords({ database, path, group, work, teams, keys, blobs, audit, events }), () => clock.nowMs());
  const { idempotency } = over;
  const ofEvents = { eventRows, events };
  const parts = {
    database,
    path,
    clock,
    log,
    group,
    accounts,
    periods,
    ids,
    keys,
    teams,
    usage,
    work,
    blobs,
    audit,
    ...ofEvents,
    idempotency,
  };
  const erasure = new TeamErasure(parts);
  const history = new HistoryChores({ ...parts, historyDays });
  const janitor = new Janitor({ ...parts, history, erasure });
  let closed: Promise<void> | undefined;
  return {
    // Synchronous.
    keys: { find: (digest) => looked(path, () => keys.owner(digest)) },
    ledger: new SqliteLedger(parts),
    teams: new SqliteTeamRegistry({ ...parts, erasure }, over.records),
    audit,
    ...over,
    history: new SqliteUsageHistory({ ...parts, historyDays }),
    outbox: new RecordOutbox(over.records, rules ?? NO_THRESHOLDS),
    clock: clock instanceof JudgedClock ? new RecordClock(over.records, clock) : unjudgedClock(clock),
    ping: () => ping(parts, file),
    close() {
      janitor.close();
      closed ??= group.close().then(() => closeDatabase(database, log));
      return closed;
    },
  };
}

/** Judges the machine's clock by the file, before anything else reads it; a clock that tests move freely is not judged. */
function compareAtOpen(database: DatabaseSync, clock: Clock): void {
  if (clock instanceof JudgedClock) clock.compare(readMark(prepared(database, SQL).latest.get(LATEST.table, LATEST.id)?.[0]));
}

function logMigration(log: Log, { onMigrated }: StoreCreation): StoreCreation['onMigrated'] {
  return (place, migration) => {
    const { from, to, copy } = migration;
    log.info('the database was migrated to this version', { store: place, from, to, copy });
    onMigrated?.(place, migration);
  };
}

/**
 * Commits a write like an admission does, of an existing value: a store that cannot be written does not count as available, nor
 * does one whose file is no longer in its place.
 */
async function ping(
  { database, group, path }: Pick<StoreParts, 'database' | 'group' | 'path'>,
  file: DatabaseFile,
): Promise<StoreUnavailable | undefined> {
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
    // Another process uses the file: the WAL is kept, and read by the next process that opens it.
    log.warn('the WAL was not written back at the end', { cause: databaseFaultOf(error) ?? 'internal' });
  }
  database.close();
}
