// Traces over OTLP: one trace from the caller to the engine with a span for each part, nothing of texts or keys in it, no
// span that was not asked for, and no effect of a collector that is away, slow or failing.
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { CANARY, status } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { V1 } from '../../support/fronts.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import type { Collector, CollectedSpan } from '../../support/otlp-collector.ts';
import { request } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const SAMPLED = `00-${TRACE}-${SPAN}-01`;
const NOT_SAMPLED = `00-${TRACE}-${SPAN}-00`;
const TEXT = 'A secret sentence of the caller';
/** The clock of a span is read in whole milliseconds. */
const CLOCK_MS = 1.1;

beforeAll(() => {
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '20');
});
afterAll(() => void vi.unstubAllEnvs());

interface Scene {
  collector: Collector;
  engines: readonly [ScriptedEngine, ScriptedEngine];
  gateway: TestGateway;
  team: TestTeam;
}

/** A gateway with two engines, the second of which is the fallback. */
function scene(listener: (typeof LISTENERS)[number], store: 'sqlite' | 'redis', otel: object, onFirst: object = {}): Scene {
  const made = {} as Scene;
  const started = startedUntil(afterAll);
  beforeAll(async () => {
    made.collector = await startCollector();
    started.closes(() => made.collector.close());
    made.engines = [await started.engine(), await started.engine()];
    const [first, second] = made.engines.map(({ url }, i) => ({ urls: [url], ...(i === 0 ? onFirst : {}) }));
    const config = { engines: { first, second }, otel: { endpoint: made.collector.url, ...otel } };
    made.gateway = await started.gateway({ listener, store: (await started.place(store)).url, config });
    made.team = await made.gateway.team();
  });
  beforeEach(() => {
    made.collector.forget();
    for (const engine of made.engines) engine.forget();
  });
  return made;
}

function translate({ gateway, team }: Scene, traceparent?: string, text: string | readonly string[] = TEXT): ReturnType<typeof request> {
  const { headers, ...asked } = V1.translation(team.key, [text].flat());
  const path = '/v1/translate?hidden=query';
  return request({ port: gateway.port, ...asked, path, headers: { ...headers, ...(traceparent === undefined ? {} : { traceparent }) } });
}

const named = (spans: readonly CollectedSpan[], name: string): readonly CollectedSpan[] => spans.filter((span) => span.name === name);

describe.each([
  { listener: LISTENERS[0], store: 'sqlite', compression: 'none' },
  { listener: LISTENERS.at(-1)!, store: 'redis', compression: 'gzip' },
] as const)('$listener listener, $store store, compression $compression', ({ listener, store, compression }) => {
  beforeAll(() => void vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', compression));
  const it = scene(listener, store, { sample: 1, headers: { 'x-token': 'a token' } });

  test('one trace has the caller, the admission, both attempts and the settlement, with the right parents and times', async () => {
    it.engines[0].always(status(500, CANARY));
    const before = Date.now();
    const answer = await translate(it, SAMPLED);
    expect(answer.status).toBe(200);
    const after = Date.now();
    const { collector, engines, team } = it;
    await expect.poll(() => collector.spans.length).toBe(5);
    const { spans } = collector;
    const [whole] = named(spans, 'POST /v1/translate');
    expect(whole).toMatchObject({ traceId: TRACE, parentId: SPAN, kind: 2, failed: false });
    expect(whole!.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/v1/translate',
      'http.response.status_code': 200,
      'lingate.request_id': answer.header('x-request-id'),
      'lingate.code': 'ok',
      'lingate.team_id': team.teamId,
      'lingate.characters': TEXT.length,
      'lingate.attempts': 2,
      'lingate.engine': 'second',
    });
    const parts = spans.filter((span) => span !== whole);
    for (const part of parts) expect(part).toMatchObject({ traceId: TRACE, parentId: whole!.spanId });
    const [admission] = named(spans, 'admission');
    const [settlement] = named(spans, 'settlement');
    const attempts = named(spans, 'engine attempt').toSorted((a, b) => a.startMs - b.startMs);
    expect(admission!.attributes).toEqual({ 'lingate.result': 'admitted' });
    expect(settlement!.attributes).toEqual({ 'lingate.verdict': 'commit', 'lingate.result': 'committed', 'lingate.tries': 1 });
    expect(attempts.map(({ attributes, kind, failed }) => ({ attributes, kind, failed }))).toEqual([
      {
        attributes: {
          'lingate.engine': 'first',
          'lingate.attempt': 1,
          'server.address': '127.0.0.1',
          'server.port': engines[0].port,
          'lingate.outcome': 'status',
          'http.response.status_code': 500,
          'error.type': 'status',
        },
        kind: 3,
        failed: true,
      },
      {
        attributes: {
          'lingate.engine': 'second',
          'lingate.attempt': 2,
          'server.address': '127.0.0.1',
          'server.port': engines[1].port,
          'lingate.outcome': 'usable',
        },
        kind: 3,
        failed: false,
      },
    ]);
    // The engines' parents are the spans of their attempts.
    expect(engines.map(({ requests }) => requests.map(({ headers }) => headers['traceparent']))).toEqual(
      attempts.map(({ spanId }) => [`00-${TRACE}-${spanId}-01`]),
    );
    const inOrder = [
      before - CLOCK_MS,
      whole!.startMs,
      admission!.startMs,
      admission!.endMs,
      ...attempts.flatMap((a) => [a.startMs, a.endMs]),
    ];
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
    expect(whole!.endMs).toBeGreaterThanOrEqual(attempts[1]!.endMs);
    expect(settlement!.startMs).toBeGreaterThanOrEqual(attempts[1]!.endMs);
    expect(settlement!.endMs).toBeLessThanOrEqual(after + 10_000);
    expect(answer.json()).toMatchObject({ billed_characters: TEXT.length });
  });

  test('payloads have no text, translation, key, query or word of an engine; the fields of `headers` are sent', async () => {
    it.engines[0].behave(status(500, CANARY), 'not_json');
    await translate(it, SAMPLED);
    await translate(it);
    const { body } = await translate(it);
    const translated = (JSON.parse(body) as { readonly translations: readonly { readonly text: string }[] }).translations[0]!.text;
    await expect.poll(() => named(it.collector.spans, 'POST /v1/translate').length).toBe(3);
    const all = Buffer.concat(it.collector.bodies).toString('latin1');
    for (const secret of [TEXT, 'secret sentence', translated, CANARY, it.team.key, it.team.key.slice(0, 20), 'hidden', 'a token']) {
      expect([secret, all.includes(secret)]).toEqual([secret, false]);
    }
    expect(all.includes('lingate.request_id')).toBe(true);
    for (const headers of it.collector.headers) {
      expect(headers['x-token']).toBe('a token');
      expect(headers['content-type']).toBe('application/x-protobuf');
      expect(headers['content-encoding']).toBe(compression === 'gzip' ? 'gzip' : undefined);
    }
  });
});

describe('a caller’s sampled flag', () => {
  const own = scene(LISTENERS[0], 'sqlite', { sample: 0 });

  test('is not followed by default: nothing is traced, and the engine is told so', async () => {
    expect((await translate(own, SAMPLED)).status).toBe(200);
    expect(own.engines[0].requests[0]!.headers['traceparent']).toMatch(new RegExp(`^00-${TRACE}-(?!${SPAN})[0-9a-f]{16}-00$`));
    expect((await translate(own)).status).toBe(200);
    expect(own.engines[0].requests[1]!.headers).not.toHaveProperty('traceparent');
    // Stopping sends everything that there is.
    await own.gateway.stop();
    expect(own.collector.bodies).toEqual([]);
  });

  const following = scene(LISTENERS[0], 'sqlite', { sample: 1, follow_callers: true });

  test('is followed where follow_callers is set, in both directions', async () => {
    await translate(following, NOT_SAMPLED);
    await translate(following, SAMPLED);
    await translate(following);
    await expect.poll(() => named(following.collector.spans, 'POST /v1/translate').length).toBe(2);
    const traces = named(following.collector.spans, 'POST /v1/translate').map(({ traceId, parentId }) => [traceId === TRACE, parentId]);
    expect(traces).toEqual([
      [true, SPAN],
      [false, ''],
    ]);
    expect(following.engines[0].requests.map(({ headers }) => String(headers['traceparent']).slice(-2))).toEqual(['00', '01', '01']);
  });
});

describe('a shared call', () => {
  const it = scene(LISTENERS[0], 'sqlite', { sample: 1, follow_callers: true }, { batch: { wait_ms: 50 } });

  test('is a span in each traced request’s trace, linked to the one that the engine has as parent', async () => {
    const other = TRACE.replaceAll('a', 'b');
    const callers = [NOT_SAMPLED, SAMPLED, `00-${other}-${SPAN}-01`];
    // The first requests of a process take longer than a call waits for others.
    for (let i = 0; i < 3; i++) await Promise.all(callers.map(() => translate(it, NOT_SAMPLED)));
    const { requests } = it.engines[0];
    const before = requests.length;
    await Promise.all(callers.map((traceparent, i) => translate(it, traceparent, `Text ${i}`)));
    await expect.poll(() => named(it.collector.spans, 'settlement').length).toBe(2);
    await expect.poll(() => named(it.collector.spans, 'POST /v1/translate').length).toBe(2);
    expect(requests.length - before).toBe(1);
    const attempts = named(it.collector.spans, 'engine attempt');
    expect(attempts.map(({ traceId }) => traceId).toSorted()).toEqual([TRACE, other].toSorted());
    const parent = attempts.find(({ attributes }) => attributes['lingate.shared'] === undefined)!;
    expect(requests[before]!.headers['traceparent']).toBe(`00-${parent.traceId}-${parent.spanId}-01`);
    const { traceId, spanId, startMs, endMs } = parent;
    expect(attempts.filter((one) => one !== parent)).toMatchObject([
      { links: [{ traceId, spanId }], attributes: { 'lingate.shared': true } },
    ]);
    // Each request's spans begin by the machine's clock, which has whole milliseconds.
    for (const one of attempts) expect([one.startMs <= endMs + 1, startMs <= one.endMs + 1]).toEqual([true, true]);
  });
});

describe('a collector that is', () => {
  beforeAll(() => void vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '300'));
  const it = scene(LISTENERS[0], 'sqlite', { sample: 1 });

  test.each(['hang', 500, 429] as const)('%s has no effect on callers', async (behaviour) => {
    it.collector.always(behaviour);
    for (let i = 0; i < 5; i++) expect((await translate(it)).status).toBe(200);
    await expect.poll(() => it.collector.bodies.length).toBeGreaterThan(0);
  });

  test('failing is logged once, in our own words, and so is its end', async () => {
    it.collector.always(500);
    const logged = (): readonly string[] => it.gateway.logLines.filter((line) => line.includes('OpenTelemetry'));
    const before = it.collector.bodies.length;
    for (let i = 0; i < 3; i++) {
      await translate(it);
      await expect.poll(() => it.collector.bodies.length).toBeGreaterThan(before + i);
    }
    await expect.poll(() => logged().filter((line) => line.includes('exports fail')).length).toBe(1);
    expect(logged().join('')).not.toContain('likes');
    it.collector.always('ok');
    await translate(it);
    await expect.poll(() => logged().some((line) => line.includes('work again'))).toBe(true);
  });
});
