// The janitor on a connection of its own, to be swept by hand beside stores on the same file.
import type { DatabaseSync } from 'node:sqlite';
import { DAY_MS, HISTORY_DAYS } from '../../../../src/domain/period.ts';
import type { Clock } from '../../../../src/ports/clock.ts';
import { Books } from '../../../../src/stores/sqlite/books.ts';
import { DictionaryPieces } from '../../../../src/stores/sqlite/dictionary-pieces.ts';
import { Expiry } from '../../../../src/stores/sqlite/expiry.ts';
import { GroupCommit } from '../../../../src/stores/sqlite/group-commit.ts';
import { HistoryChores } from '../../../../src/stores/sqlite/history-chores.ts';
import { Janitor } from '../../../../src/stores/sqlite/janitor.ts';
import { openDatabase } from '../../../../src/stores/sqlite/open-database.ts';
import { DayCounts, NO_HOOKS, Periods } from '../../../../src/stores/sqlite/periods.ts';
import type { HistoryHooks } from '../../../../src/stores/sqlite/periods.ts';
import { RegistryWork } from '../../../../src/stores/sqlite/registry-work.ts';
import { RequestIds } from '../../../../src/stores/sqlite/request-ids.ts';
import { AuditRows, SqliteAuditLog } from '../../../../src/stores/sqlite/sqlite-audit-log.ts';
import { TeamErasure } from '../../../../src/stores/sqlite/team-erasure.ts';
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
}

export async function janitorOn(
  path: string,
  clock: Clock,
  { historyDays = HISTORY_DAYS, hooks = NO_HOOKS }: JanitorOptions = {},
): Promise<JanitorUnderTest> {
  const database = await openDatabase(path, 'normal');
  const books = new Books(database);
  const group = new GroupCommit({ database, path, log: SILENT, busyTimeoutMs: 5000, behind: books });
  const [days, periods] = [new DayCounts(database, books, hooks), new Periods(database, books, hooks)];
  const [expiry, ids] = [new Expiry(database, books, periods), new RequestIds(database)];
  const history = new HistoryChores({ database, books, expiry, days, periods, historyDays });
  const audit = new AuditRows(database, historyDays * DAY_MS);
  const parts = { database, path, clock, group };
  const pieces = new DictionaryPieces(parts);
  const work = new RegistryWork({ ...parts, books, expiry, periods });
  const auditLog = new SqliteAuditLog(parts, audit);
  const erasure = new TeamErasure({ database, work, books, days, periods, pieces, events: undefined, audit, auditLog });
  const janitor = new Janitor({ database, clock, log: SILENT, group, books, expiry, ids, history, audit, erasure, pieces });
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
