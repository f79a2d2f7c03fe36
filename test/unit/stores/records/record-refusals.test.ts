// Refusals are summed by day on both stores, whoever counts them, kept as long as days are, and gone with their team.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { DAY_MS, dayOf } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import { NO_REFUSALS } from '../../../../src/domain/usage-days.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { RecordRefusals } from '../../../../src/stores/records/record-refusals.ts';
import { openRedisStore } from '../../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { newId, teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { startRedis } from '../../../support/redis.ts';
import { SILENT } from '../../../support/silent-log.ts';

const KEPT_DAYS = 30;
const removals: (() => unknown)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});
const clock = new MovableClock();
const directory = mkdtempSync(join(tmpdir(), 'lingate-refusals-'));
const server = await startRedis();
removals.push(
  () => rmSync(directory, { recursive: true }),
  () => server.stop(),
);

const KINDS: readonly { readonly name: string; readonly open: () => Promise<Store> }[] = [
  { name: 'SQLite', open: () => openSqliteStore({ path: join(directory, 'lingate.db'), log: SILENT, clock, busyTimeoutMs: 5000 }) },
  { name: 'Redis', open: () => openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000 }) },
];

describe.each(KINDS)('$name', ({ open }) => {
  const opened = Promise.all([open(), open()]);
  removals.unshift(async () => {
    for (const store of await opened) await store.close();
  });

  async function scene() {
    const [here, there] = await opened;
    const { teamId } = await teamUnderTest(promisedStore(here));
    const refusals = [here, there].map((store) => new RecordRefusals(store.records, KEPT_DAYS)) as [RecordRefusals, RecordRefusals];
    const nowMs = clock.nowMs();
    const sum = async (fromDays: number, toDays: number) =>
      answered(await refusals[0].sum(teamId, { from: dayOf(nowMs) + fromDays, to: dayOf(nowMs) + toDays }));
    return { teamId, store: here, refusals, nowMs, sum };
  }

  test('what two gateways count at the same time adds up, by day and code', async () => {
    const { teamId, refusals, nowMs, sum } = await scene();
    const counts = { rate_limited: 3, quota_exceeded: 1, credit_exhausted: 0 };
    const adding = Array.from({ length: 20 }, (_, i) => refusals[i % 2 === 0 ? 0 : 1].add(teamId, counts, nowMs));
    expect(await Promise.all(adding)).toEqual(adding.map(() => undefined));
    await refusals[1].add(teamId, { ...NO_REFUSALS, credit_exhausted: 5 }, nowMs + DAY_MS);
    expect(await sum(0, 0)).toEqual({ rate_limited: 60, quota_exceeded: 20, credit_exhausted: 0 });
    expect(await sum(0, 1)).toEqual({ rate_limited: 60, quota_exceeded: 20, credit_exhausted: 5 });
    expect(await sum(1, 30)).toEqual({ ...NO_REFUSALS, credit_exhausted: 5 });
    expect(await sum(-30, -1)).toEqual(NO_REFUSALS);
  });

  test('days are kept as long as usage, and dropped by the first refusal of a later day', async () => {
    const { teamId, refusals, nowMs, sum } = await scene();
    const one = { ...NO_REFUSALS, rate_limited: 1 };
    for (const day of [0, 1, KEPT_DAYS + 1]) await refusals[0].add(teamId, one, nowMs + day * DAY_MS);
    expect(await sum(0, 0)).toEqual(NO_REFUSALS);
    expect(await sum(0, KEPT_DAYS + 1)).toEqual({ ...NO_REFUSALS, rate_limited: 2 });
  });

  test('a team that does not exist, or was deleted, has no refusals and gets none', async () => {
    const { teamId, store, refusals, nowMs, sum } = await scene();
    const one = { ...NO_REFUSALS, rate_limited: 1 };
    expect(await refusals[0].add(newId(), one, nowMs)).toBeUndefined();
    await refusals[0].add(teamId, one, nowMs);
    answered(await store.teams.deleteTeam(teamId, { keepUsage: false }));
    expect(await refusals[0].add(teamId, one, nowMs)).toBeUndefined();
    expect(await sum(0, 0)).toEqual(NO_REFUSALS);
  });
});
