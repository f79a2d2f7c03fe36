// What an open file consists of, and how its parts run: as operations of the group commit, on rows that are up to date.
import type { DatabaseSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordAudit } from '../records/record-audit.ts';
import type { GroupCommit } from './group-commit.ts';
import type { SqliteAccounts } from './sqlite-accounts.ts';
import type { SqliteBlobs } from './sqlite-blobs.ts';
import type { SharedWrites } from './sqlite-records.ts';

export interface SqliteParts {
  readonly database: DatabaseSync;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly group: GroupCommit;
  readonly accounts: SqliteAccounts;
  readonly audit: RecordAudit;
  readonly blobs: SqliteBlobs;
  readonly writes: SharedWrites;
  readonly idempotency: IdempotencyRecords;
  /** How many days usage and audit entries are retained. */
  readonly historyDays: number;
  /** The row of a team that exists. */
  numberOf(teamId: string): number | undefined;
}

/** Runs `work` after everything that is only in memory has been written. */
export function onRows<T>(
  { group, accounts }: Pick<SqliteParts, 'group' | 'accounts'>,
  work: (nowMs: number) => T,
): Promise<T | StoreUnavailable> {
  return group.run((nowMs) => {
    accounts.flush();
    return work(nowMs);
  });
}
