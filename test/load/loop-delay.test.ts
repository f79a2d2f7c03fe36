// More work than the CPU can do: requests that the event loop has no time for are shed before they cost anything.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { countBy, goodput, openLoop, quantile } from '../evidence/load/open-loop.ts';

const SPIN_PLUGIN = fileURLToPath(new URL('../support/plugins/spin.ts', import.meta.url));
const SPIN_MS = 20;
/** Requests per second that the CPU could do if it had nothing else to do. */
const CAPACITY = 1000 / SPIN_MS;

test('an overloaded event loop sheds requests with 503 service_unavailable, and serves all again afterwards', async () => {
  const limits = { shed_loop_delay_ms: 100 };
  const site = await startLoadedGateway({
    store: 'sqlite',
    config: { limits, plugins: [{ module: SPIN_PLUGIN, options: { ms: SPIN_MS } }] },
  });
  try {
    const team = await site.team();
    const startedAtMs = performance.now();
    const over = await openLoop({ port: site.port, key: team.key, perSecond: 3 * CAPACITY, seconds: 5 });
    const shed = over.filter(({ code }) => code === 'service_unavailable');
    expect(Object.keys(countBy(over)).toSorted()).toEqual(['200 ok', '503 service_unavailable']);
    expect(shed.every(({ retryAfter }) => retryAfter === '5')).toBe(true);
    expect(await site.metric('lingate_requests_shed_total{reason="loop_delay"}')).toBe(shed.length);
    // If all were handled, they would take three times as long as it takes to send them.
    expect(quantile(over, 0.5)).toBeLessThan(2500);
    expect(goodput(over, startedAtMs, startedAtMs + 5000)).toBeGreaterThan(CAPACITY / 4);
    await expect
      .poll(async () => countBy(await openLoop({ port: site.port, key: team.key, perSecond: 10, seconds: 1 })))
      .toEqual({ '200 ok': 10 });
    const delivered = over.filter(({ status }) => status === 200).length;
    await expect.poll(() => site.store.teams.standing(team.teamId)).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect(answered(await site.store.teams.standing(team.teamId))!.usedCharacters).toBeGreaterThanOrEqual(delivered * 10);
  } finally {
    await site.stop();
  }
});
