// Gateways' records as rows of the file.
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { Clock } from '../../ports/clock.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import type { GroupCommit } from './group-commit.ts';

/** Older records are of gateways that are gone. */
const RECORD_KEPT_MS = 86_400_000;

export interface GatewayRecordParts {
  readonly database: DatabaseSync;
  readonly clock: Clock;
  readonly group: GroupCommit;
}

export class SqliteGatewayRecords implements GatewayRecords {
  readonly #parts: GatewayRecordParts;
  readonly #put: StatementSync;
  readonly #forget: StatementSync;
  readonly #since: StatementSync;

  constructor(parts: GatewayRecordParts) {
    this.#parts = parts;
    const { database } = parts;
    this.#put = database.prepare('INSERT OR REPLACE INTO gateways (host, file, seen_at_ms, plans) VALUES (?, ?, ?, ?)');
    this.#forget = database.prepare('DELETE FROM gateways WHERE seen_at_ms < ?');
    this.#since = database.prepare('SELECT host, file, plans FROM gateways WHERE seen_at_ms >= ? ORDER BY host, file');
  }

  leave({ host, file, plans }: GatewayRecord): Promise<StoreUnavailable | undefined> {
    return this.#parts.group.run(() => {
      const nowMs = this.#parts.clock.nowMs();
      this.#forget.run(nowMs - RECORD_KEPT_MS);
      this.#put.run(host, file, nowMs, JSON.stringify(plans));
      return undefined;
    });
  }

  recent(withinMs: number): Promise<readonly GatewayRecord[] | StoreUnavailable> {
    return this.#parts.group.run(() =>
      this.#since.all(this.#parts.clock.nowMs() - withinMs).map(({ host, file, plans }) => ({
        host: String(host),
        file: String(file),
        plans: JSON.parse(String(plans)) as GatewayRecord['plans'],
      })),
    );
  }
}
