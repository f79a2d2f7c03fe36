// A janitor with a connection of its own, which tests run by hand beside stores on the same file.
import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS, HISTORY_DAYS } from '../../../../src/domain/period.ts';
import type { StoreUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { Clock } from '../../../../src/ports/clock.ts';
import { Accounts } from '../../../../src/stores/sqlite/accounts.ts';
import { EventRows } from '../../../../src/stores/sqlite/event-rows.ts';
import { GroupCommit } from '../../../../src/stores/sqlite/group-commit.ts';
import { HistoryChores } from '../../../../src/stores/sqlite/history-chores.ts';
import { Janitor } from '../../../../src/stores/sqlite/janitor.ts';
import { NextPlans } from '../../../../src/stores/sqlite/next-plans.ts';
import { openDatabase } from '../../../../src/stores/sqlite/open-database.ts';
import { KeyRows } from '../../../../src/stores/sqlite/key-rows.ts';
import { Periods } from '../../../../src/stores/sqlite/periods.ts';
import type { HistoryHooks } from '../../../../src/stores/sqlite/periods.ts';
import { RegistryWork } from '../../../../src/stores/sqlite/registry-work.ts';
import { RequestIds } from '../../../../src/stores/sqlite/request-ids.ts';
import { SqliteAuditLog } from '../../../../src/stores/sqlite/sqlite-audit-log.ts';
import { SqliteBlobs } from '../../../../src/stores/sqlite/sqlite-blobs.ts';
import { RecordIdempotency } from '../../../../src/stores/records/record-idempotency.ts';
import { SqliteRecords } from '../../../../src/stores/sqlite/sqlite-records.ts';
import { TeamErasure } from '../../../../src/stores/sqlite/team-erasure.ts';
import { TeamRows } from '../../../../src/stores/sqlite/team-rows.ts';
import { SILENT } from '../../../support/silent-log.ts';

export interface JanitorUnderTest {
  readonly database: DatabaseSync;
  readonly history: HistoryChores;
  sweep(): Promise<void>;
  close(): void;
}

interface JanitorOptions {
  readonly historyDays?: number;
  readonly hooks?: HistoryHooks;
  /** Awaited in a deletion that the janitor continues, after it has found it unfinished and before it removes anything. */
  readonly midway?: () => Promise<void>;
}

export async function janitorOn(
  path: string,
  clock: Clock,
  { historyDays = HISTORY_DAYS, hooks, midway = async () => {} }: JanitorOptions = {},
): Promise<JanitorUnderTest> {
  const database = await openDatabase(path, 'normal');
  const accounts = new Accounts(database);
  const group = new GroupCommit({ database, path, clock, log: SILENT, busyTimeoutMs: 5000, behind: accounts });
  const [teams, audit] = [new TeamRows(database), new SqliteAuditLog(database, group, historyDays * DAY_MS)];
  const nextPlans = new NextPlans({ database, accounts, teams, audit, events: undefined });
  const [periods, ids] = [new Periods(database, accounts, nextPlans, hooks), new RequestIds(database)];
  const history = new HistoryChores({ database, accounts, periods, historyDays });
  const blobs = new SqliteBlobs({ database, path, group, teams });
  const [keys, work] = [new KeyRows(database, clock), new RegistryWork({ group, accounts, periods })];
  const records = new SqliteRecords({ database, path, group, work, teams, keys, blobs, audit, events: undefined });
  class MidwayIdempotency extends RecordIdempotency {
    override async forgetTeam(teamId: string): Promise<StoreUnavailable | undefined> {
      await midway();
      return super.forgetTeam(teamId);
    }
  }
  const idempotency = new MidwayIdempotency(records, () => clock.nowMs());
  const erasure = new TeamErasure({
    database,
    work,
    accounts,
    periods,
    blobs,
    eventRows: new EventRows(database),
    events: undefined,
    audit,
    idempotency,
  });
  const janitor = new Janitor({
    idempotency,
    database,
    clock,
    log: SILENT,
    group,
    accounts,
    periods,
    ids,
    history,
    audit,
    erasure,
    blobs,
  });
  return {
    database,
    history,
    sweep: () => janitor.sweep(),
    close() {
      janitor.close();
      database.close();
    },
  };
}
