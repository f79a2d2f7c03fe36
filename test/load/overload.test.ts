// Three times the engine's capacity, sent regardless of the answers: accepted requests stay fast, the rest is refused at once.
import { performance } from 'node:perf_hooks';
import { afterEach, describe, expect, test } from 'vitest';
import { report } from '../evidence/scorecard/report.ts';
import type { TestTeam } from '../support/gateway.ts';
import { slow } from '../../src/testing.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { countBy, goodput, openLoop, quantile } from '../evidence/load/open-loop.ts';
import type { Sent } from '../evidence/load/open-loop.ts';

const ENGINE_MS = 100;
const CONNECTIONS = 8;
/** Answers per second that the engine can give. */
const CAPACITY = (CONNECTIONS * 1000) / ENGINE_MS;
const MS_PER_SECOND = 1000;
/** Since the last query. */
const LOOP_DELAY = 'lingate_event_loop_delay_seconds{percentile="99"}';
const LOOP_DELAY_MS_MAX = 50;

let site: LoadedGateway;
let team: TestTeam;

afterEach(() => site.stop());

async function open(limits: Readonly<Record<string, unknown>>, engine: Readonly<Record<string, unknown>> = {}): Promise<void> {
  site = await startLoadedGateway({
    store: 'sqlite',
    config: { engine: { timeout_ms: 1000, connections_max: CONNECTIONS, ...engine }, limits },
  });
  team = await site.team();
  site.engine.always(slow(ENGINE_MS));
}

async function send(factor: number, seconds: number): Promise<{ sent: Sent[]; perSecond: number }> {
  const startedAtMs = performance.now();
  const sent = await openLoop({ port: site.port, key: team.key, perSecond: CAPACITY * factor, seconds });
  // Requests in flight at the end are not counted in any second; nor is the first second, while queues fill.
  return { sent, perSecond: goodput(sent, startedAtMs + MS_PER_SECOND, startedAtMs + seconds * MS_PER_SECOND) };
}

function share(over: { readonly perSecond: number }, peak: { readonly perSecond: number }): string {
  return ((100 * over.perSecond) / peak.perSecond).toFixed(0);
}

function reportRow(how: string, measured: string, met = true): void {
  report({
    row: 21,
    figure: `overload, 3x capacity, ${how}`,
    measured,
    met,
  });
}

async function chargedFor(sent: readonly Sent[]): Promise<void> {
  const delivered = sent.filter(({ status }) => status === 200).length;
  await expect
    .poll(() => site.store.teams.standing(team.teamId))
    .toMatchObject({ usedCharacters: delivered * 10, heldCharacters: 0, openReservations: 0 });
}

describe('an overload of three times the capacity', () => {
  test('with a long queue: goodput stays, because no call is sent that has waited for half of its time', async () => {
    await open({}, { queue_max: 100_000 });
    const peak = await send(1.2, 3);
    await site.metric(LOOP_DELAY);
    const over = await send(3, 4);
    const loopDelayMs = (await site.metric(LOOP_DELAY)) * MS_PER_SECOND;
    const after = await send(0.5, 3);
    const all = [...peak.sent, ...over.sent, ...after.sent];
    // Two seconds after the overload everything is as before.
    const recovered = after.sent.filter(({ startedAtMs }) => startedAtMs > after.sent[0]!.startedAtMs + 2 * MS_PER_SECOND);
    const served = recovered.filter(({ status }) => status === 200).length;
    const measured = `goodput ${share(over, peak)} % of peak, event loop late by ${loopDelayMs.toFixed(0)} ms (p99), 2 s behind its end ${served} of ${recovered.length} served`;
    reportRow('a long queue', measured, loopDelayMs < LOOP_DELAY_MS_MAX);
    expect(over.perSecond).toBeGreaterThanOrEqual(0.9 * peak.perSecond);
    expect(Object.keys(countBy(all)).toSorted()).toEqual(['200 ok', '503 engine_unavailable']);
    expect(all.filter(({ status }) => status === 503).every(({ retryAfter }) => retryAfter === '5')).toBe(true);
    expect(countBy(recovered)).toEqual({ '200 ok': recovered.length });
    await chargedFor(all);
  });

  test('with a limit on requests in flight: accepted ones are nearly as fast as before, the rest is a 503 at once', async () => {
    const concurrency = CONNECTIONS * 2;
    await open({ concurrency });
    const idle = await send(0.3, 2);
    const peak = await send(1.2, 3);
    let inFlightMax = 0;
    const watch = setInterval(
      () => void site.metric('lingate_requests_in_flight').then((now) => (inFlightMax = Math.max(inFlightMax, now))),
      50,
    );
    const over = await send(3, 4);
    clearInterval(watch);
    const after = await send(0.5, 1);
    const shed = over.sent.filter(({ code }) => code === 'service_unavailable');
    const ratio = quantile(over.sent, 0.99) / quantile(idle.sent, 0.5);
    reportRow(
      'a cap on what is under way',
      `goodput ${share(over, peak)} % of peak, p99 of accepted ${ratio.toFixed(1)} times the idle median, at most ${inFlightMax} in flight of ${concurrency}, ${shed.length} of ${over.sent.length} shed with Retry-After 5`,
    );
    expect(over.perSecond).toBeGreaterThanOrEqual(0.9 * peak.perSecond);
    expect(ratio).toBeLessThanOrEqual(5);
    expect(Object.keys(countBy(over.sent)).toSorted()).toEqual(['200 ok', '503 service_unavailable']);
    expect(shed.every(({ retryAfter }) => retryAfter === '5')).toBe(true);
    expect(await site.metric('lingate_requests_shed_total{reason="concurrency"}')).toBeGreaterThanOrEqual(shed.length);
    expect(inFlightMax).toBeLessThanOrEqual(concurrency);
    expect(countBy(after.sent)).toEqual({ '200 ok': after.sent.length });
    await chargedFor([...idle.sent, ...peak.sent, ...over.sent, ...after.sent]);
  });

  test('by one team: another team is served as usual', async () => {
    await open({ team_concurrency: CONNECTIONS / 2 });
    const other = await site.team();
    const [greedy, modest] = await Promise.all([
      openLoop({ port: site.port, key: team.key, perSecond: CAPACITY * 3, seconds: 3 }),
      openLoop({ port: site.port, key: other.key, perSecond: CAPACITY / 4, seconds: 3 }),
    ]);
    expect(countBy(modest)).toEqual({ '200 ok': modest.length });
    expect(Object.keys(countBy(greedy)).toSorted()).toEqual(['200 ok', '503 service_unavailable']);
    expect(greedy.filter(({ status }) => status === 503).every(({ retryAfter }) => retryAfter === '5')).toBe(true);
    expect(await site.metric('lingate_requests_shed_total{reason="team_concurrency"}')).toBe(countBy(greedy)['503 service_unavailable']);
    await chargedFor(greedy);
  });
});
