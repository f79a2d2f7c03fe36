// SIGTERM under load: gateways are restarted one after the other, and callers with persistent connections see no failure.
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { freePortOf } from '../../support/door/gateways.ts';
import { scriptedTranslation } from '../../../src/testing.ts';
import { report } from '../scorecard/report.ts';
import { sized } from '../scorecard/size.ts';
import { QUOTA_PLAN, makeTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import type { GatewayProcess } from '../../support/gateway-process.ts';
import { startRedis } from '../../support/redis.ts';
import { openSite } from '../../support/site.ts';
import type { Site } from '../../support/site.ts';
import { openBeside } from '../../support/store-place.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { agentSender, Callers, undiciSender } from './callers.ts';

vi.setConfig({ testTimeout: 180_000 });

let site: Site;

beforeEach(async () => {
  site = await openSite();
});

afterEach(() => site.close());

/** Starts a gateway on the port of the previous one. */
async function start(listener: string, port: number, storeUrl: string, workers: string): Promise<GatewayProcess> {
  const config = join(site.folder, `${listener}.yaml`);
  // A busy machine must not shed requests here: only the drain is tested.
  const patience = { limits: { shed_loop_delay_ms: 0 }, store_options: { command_timeout_ms: 10_000 } };
  await writeFile(config, JSON.stringify({ listener, engine: { urls: [site.engine.url] }, ...patience }));
  const addresses = ['--listen', `127.0.0.1:${port}`, '--ops', '127.0.0.1:0'];
  const args = ['serve', '--config', config, '--store', storeUrl, ...addresses, '--workers', workers];
  return startGatewayProcess({ args, cwd: site.folder });
}

test.each([
  { signals: sized(2, 20), workers: '1' },
  { signals: sized(1, 4), workers: '2' },
])(
  '$signals SIGTERMs under load, $workers worker(s) each: no failed request, none uncharged, exit 0 each time',
  async ({ signals, workers }) => {
    const redis = await startRedis();
    const store = await openBeside(redis.url);
    const team = await makeTeam(store, { ...QUOTA_PLAN, requests_per_second: 50_000, characters: 100_000_000 });
    let answers = 0;
    site.engine.always((asked, response) => {
      const { text } = JSON.parse(asked.body) as { text: string[] };
      const answer = JSON.stringify({ translations: text.map((one) => ({ text: scriptedTranslation(one, 'DE') })) });
      setTimeout(() => response.end(answer), (7 * answers++) % 60);
    });
    // Chosen in advance: uWebSockets.js cannot reuse a port that the system chose for it right away.
    const ports = await Promise.all(LISTENERS.map(() => freePortOf('127.0.0.1', 0)));
    const startOne = (one: number): Promise<GatewayProcess> => start(LISTENERS[one]!, ports[one]!, redis.url, workers);
    const gateways = await Promise.all([startOne(0), startOne(1)]);
    const callers = new Callers({
      count: 12,
      ports,
      senderOf: (index) => (index % 2 === 0 ? undiciSender : agentSender)(team.key),
      // Some continue at once, others pause between requests, and so are idle when the signal arrives.
      pauseMs: (index, asked) => (index < 2 ? 0 : (7 * index + 23 * asked) % 60),
    });
    for (let signal = 0; signal < signals; signal++) {
      const one = signal % 2;
      const before = callers.delivered;
      await expect.poll(() => callers.delivered).toBeGreaterThan(before + 60);
      expect(await gateways[one]!.end('SIGTERM')).toBe(0);
      gateways[one] = await startOne(one);
    }
    expect(await callers.stop()).toEqual([]);
    expect(await Promise.all(gateways.map((gateway) => gateway.end('SIGTERM')))).toEqual([0, 0]);
    expect(await store.teams.standing(team.teamId)).toMatchObject({ usedCharacters: callers.delivered * 10, openReservations: 0 });
    report({
      row: 22,
      figure: `${signals} SIGTERMs under load on both listeners, ${workers} worker(s) each`,
      measured: `0 failed of ${callers.delivered} requests over connections that are kept, each charged once; exit 0 each time`,
      counts: { faults: signals },
    });
    await store.close();
    await redis.stop();
  },
);
