// What an open store consists of; each part is given those that it needs.
import type { DatabaseSync } from 'node:sqlite';
import type { Clock } from '../../ports/clock.ts';
import type { IdempotencyRecords } from '../../ports/idempotency-records.ts';
import type { Log } from '../../ports/log.ts';
import type { Accounts } from './accounts.ts';
import type { EventRows } from './event-rows.ts';
import type { GroupCommit } from './group-commit.ts';
import type { HistoryChores } from './history-chores.ts';
import type { KeyRows } from './key-rows.ts';
import type { Periods } from './periods.ts';
import type { RegistryWork } from './registry-work.ts';
import type { RequestIds } from './request-ids.ts';
import type { SqliteAuditLog } from './sqlite-audit-log.ts';
import type { SqliteBlobs } from './sqlite-blobs.ts';
import type { SqliteEvents } from './sqlite-events.ts';
import type { PeriodUsage } from './sqlite-usage-history.ts';
import type { TeamErasure } from './team-erasure.ts';
import type { TeamRows } from './team-rows.ts';

export interface StoreParts {
  readonly database: DatabaseSync;
  /** The file, for messages to operators. */
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly group: GroupCommit;
  readonly accounts: Accounts;
  readonly periods: Periods;
  readonly ids: RequestIds;
  readonly keys: KeyRows;
  readonly teams: TeamRows;
  readonly usage: PeriodUsage;
  readonly work: RegistryWork;
  readonly blobs: SqliteBlobs;
  readonly audit: SqliteAuditLog;
  readonly eventRows: EventRows;
  /** `undefined` if no events are sent. */
  readonly events: SqliteEvents | undefined;
  readonly idempotency: IdempotencyRecords;
  readonly erasure: TeamErasure;
  readonly history: HistoryChores;
  /** How many days usage and audit entries are kept. */
  readonly historyDays: number;
}
