// What an open file consists of, and how its parts run: as operations of the group commit, on rows that are up to date.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { GroupCommit } from './group-commit.ts';
import type { Sql } from './sql.ts';
import type { SqliteAccounts } from './sqlite-accounts.ts';
import type { SharedWrites } from './sqlite-records.ts';

export interface SqliteParts {
  readonly sql: Sql;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly group: GroupCommit;
  readonly accounts: SqliteAccounts;
  readonly writes: SharedWrites;
}

/** Runs `work` after everything that is only in memory has been written. */
export function onRows<T>({ group, accounts }: SqliteParts, work: (nowMs: number) => T): Promise<T | StoreUnavailable> {
  return group.run((nowMs) => {
    accounts.flush();
    return work(nowMs);
  });
}
