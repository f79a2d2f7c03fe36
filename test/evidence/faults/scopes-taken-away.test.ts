// A scope that is taken away under load: from the reply on no request that needs it is accepted, on any gateway of either store.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { startRedis } from '../../support/redis.ts';
import { COMMAND_VARIABLE } from '../../support/start-program.ts';
import { Callers } from './caller.ts';
import { startFleet } from './fleet.ts';
import { closedLoop } from './pace.ts';
import { seeded } from './seeded.ts';
import { openWitness, watchedTeam } from './witness.ts';

/** Sent after the reply. */
const REQUESTS = process.env[COMMAND_VARIABLE] === 'test:long' ? 10_000 : 800;
const GATEWAYS = 2;

async function redisPlace() {
  const redis = await startRedis();
  return { url: redis.url, remove: () => redis.stop() };
}

async function sqlitePlace() {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-scopes-away-'));
  return { url: `sqlite:${join(folder, 'lingate.db')}`, remove: async () => rmSync(folder, { recursive: true }) };
}

describe.each([
  ['redis', redisPlace],
  ['sqlite', sqlitePlace],
] as const)('two gateways on %s', (_name, make) => {
  test(`accept none of ${REQUESTS} requests after the reply, and all before it`, { timeout: 600_000 }, async () => {
    const place = await make();
    const store = await openWitness(place.url);
    const fleet = await startFleet({ store: place.url, engineUrl: 'http://127.0.0.1:9', size: GATEWAYS });
    const callers = new Callers();
    const team = await watchedTeam(store, { ...QUOTA_PLAN, requests_per_second: 100_000 });
    const change = async (scopes: readonly string[]) => answered(await store.teams.updateKey(team.keyId, { limits: { scopes } }));
    const total = { before: 0, after: 0 };
    const wrong: unknown[] = [];
    const random = seeded();
    while (total.after < REQUESTS) {
      const [before, after] = [random.between(10, 90), random.between(50, 150)];
      await change(['languages:read', 'usage:read']);
      const state = { taking: false, taken: false, before: 0, after: 0 };
      const load = closedLoop(
        () => state.after < after,
        8,
        async (index) => {
          const { taken } = state;
          const { seen } = await callers.languages(fleet.living()[index % GATEWAYS]!, team);
          const { result } = seen;
          if (taken) state.after++;
          else state.before++;
          // While the change is on its way, either is right.
          const isOk = taken ? result.kind === 'fail' && result.code === 'forbidden' : state.taking || result.kind === 'ok';
          if (!isOk) wrong.push([taken ? 'after the reply' : 'before it was asked for', result]);
        },
      );
      await expect.poll(() => state.before, { interval: 2, timeout: 60_000 }).toBeGreaterThan(before);
      state.taking = true;
      await change(['usage:read']);
      state.taken = true;
      await load;
      total.before += state.before;
      total.after += state.after;
    }
    process.stdout.write(`${total.after} requests after the reply, ${total.before} before it\n`);
    expect(wrong.slice(0, 5)).toEqual([]);
    await fleet.stop();
    callers.close();
    await store.close();
    await place.remove();
  });
});
