// Records of gateways as rows.
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { GatewayRecord, GatewayRecords } from '../../ports/gateway-records.ts';
import type { StoreParts } from './group-commit.ts';
import { prepared, objects } from './statements.ts';

/** Older records belong to gateways that are gone. */
const RECORD_KEPT_MS = 86_400_000;

type GatewayRow = Record<keyof GatewayRecord, string>;

export function sqliteGatewayRecords({ database, clock, group }: StoreParts): GatewayRecords {
  const sql = prepared(database, {
    put: 'INSERT OR REPLACE INTO gateways (host, file, seen_at_ms, plans) VALUES (?, ?, ?, ?)',
    forget: 'DELETE FROM gateways WHERE seen_at_ms < ?',
    since: objects<GatewayRow>('SELECT host, file, plans FROM gateways WHERE seen_at_ms >= ? ORDER BY host, file'),
  });
  return {
    leave: ({ host, file, plans }): Promise<StoreUnavailable | undefined> =>
      group.run(() => {
        const nowMs = clock.nowMs();
        sql.forget.run(nowMs - RECORD_KEPT_MS);
        sql.put.run(host, file, nowMs, JSON.stringify(plans));
        return undefined;
      }),
    recent: (withinMs) =>
      group.run(() => {
        const found = sql.since.all(clock.nowMs() - withinMs);
        return found.map((row) => ({ ...row, plans: JSON.parse(row.plans) as GatewayRecord['plans'] }));
      }),
  };
}
