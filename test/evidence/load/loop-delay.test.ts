// More work than the processor can do: what no turn of the event loop has time for is turned away before it costs anything.
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { startLoadedGateway } from './loaded-gateway.ts';
import { countBy, goodput, openLoop, quantile } from './open-loop.ts';

const SPIN_PLUGIN = fileURLToPath(new URL('../../support/plugins/spin.ts', import.meta.url));
const SPIN_MS = 20;
/** Requests per second that the processor could do if it had nothing else to do. */
const CAPACITY = 1000 / SPIN_MS;

test('an event loop that cannot keep up turns away what it has no time for with 503 service_unavailable, and serves all again afterwards', async () => {
  const limits = { shed_loop_delay_ms: 100 };
  const house = await startLoadedGateway({
    store: 'sqlite',
    config: { limits, plugins: [{ module: SPIN_PLUGIN, options: { ms: SPIN_MS } }] },
  });
  try {
    const team = await house.team();
    const startedAtMs = performance.now();
    const over = await openLoop({ port: house.port, key: team.key, perSecond: 3 * CAPACITY, seconds: 5 });
    const shed = over.filter(({ code }) => code === 'service_unavailable');
    expect(Object.keys(countBy(over)).toSorted()).toEqual(['200 ok', '503 service_unavailable']);
    expect(shed.every(({ retryAfter }) => retryAfter === '5')).toBe(true);
    expect(await house.metric('lingate_requests_shed_total{reason="loop_delay"}')).toBe(shed.length);
    // Taken one by one to the last, they would take three times as long as they are sent.
    expect(quantile(over, 0.5)).toBeLessThan(2500);
    expect(goodput(over, startedAtMs, startedAtMs + 5000)).toBeGreaterThan(CAPACITY / 4);
    await expect
      .poll(async () => countBy(await openLoop({ port: house.port, key: team.key, perSecond: 10, seconds: 1 })))
      .toEqual({ '200 ok': 10 });
    const delivered = over.filter(({ status }) => status === 200).length;
    await expect.poll(() => house.store.teams.standing(team.teamId)).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect(answered(await house.store.teams.standing(team.teamId))!.usedCharacters).toBeGreaterThanOrEqual(delivered * 10);
  } finally {
    await house.stop();
  }
});
