// Whether operators' changes are kept as events: by the rules of the gateways that send them, also where a process has none. Events about
// usage are in usage-events.test.ts and limit-events.test.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { eventRules } from '../../../src/domain/event-rules.ts';
import type { EventRules } from '../../../src/domain/event-rules.ts';
import { answered } from '../../../src/domain/store-unavailable.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import type { Store } from '../../../src/ports/store.ts';
import { openRedisStore } from '../../../src/stores/redis/redis-store.ts';
import { openSqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { startRedis } from '../../support/redis.ts';
import { SILENT } from '../../support/silent-log.ts';

const RULES = eventRules([80, 95, 100], [1000, 0]);

const server = await startRedis();
const directory = mkdtempSync(join(tmpdir(), 'lingate-events-'));
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await server.stop();
});

interface Kind {
  readonly name: string;
  readonly open: (clock: Clock, events: EventRules | undefined) => Promise<Store>;
}

const KINDS: readonly Kind[] = [
  { name: 'Redis', open: (clock, events) => openRedisStore({ url: server.url, log: SILENT, clock, commandTimeoutMs: 5000, events }) },
  {
    name: 'SQLite',
    open: (clock, events) =>
      openSqliteStore({ path: join(directory, 'lingate.db'), log: SILENT, clock, durability: 'normal', busyTimeoutMs: 5000, events }),
  },
];

describe.each(KINDS)('$name', ({ open }) => {
  test('a process without rules follows those of a gateway that sends events, or did within a day', async () => {
    const clock = new MovableClock();
    const store = await open(clock, RULES);
    const team = await teamUnderTest(promisedStore(store));
    const kept = async (): Promise<number> => answered(await store.outbox.due(1000)).filter(({ teamId }) => teamId === team.teamId).length;
    const rename = async (name: string): Promise<number> => {
      const command = await open(clock, undefined);
      clock.step(1);
      answered(await command.teams.updateTeam(team.teamId, { name }));
      await command.close();
      return kept();
    };
    expect(await store.outbox.lease('gateway', 1000)).toBe(true);
    const before = await kept();
    expect(await rename('While it runs')).toBe(before + 1);
    expect(await store.outbox.release('gateway')).toBeUndefined();
    clock.step(86_000_000);
    expect(await rename('On the next day')).toBe(before + 2);
    clock.step(500_000);
    expect(await rename('Later')).toBe(before + 2);
    await store.close();
  });
});
