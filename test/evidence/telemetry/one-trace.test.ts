// One trace from a customer's SDK through the gateway to an engine's SDK, at one collector: every parent is the span before, times are
// nested, and nothing that callers or engines said is in any payload. Over both listeners and both stores, and with workers.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { bareEnvironment } from '../../support/compile-cache.ts';
import { makeTeam } from '../../support/gateway.ts';
import { startGatewayProcess } from '../../support/gateway-process.ts';
import { COMBINATIONS } from '../../support/every-gateway.ts';
import { startCollector } from '../../support/otlp-collector.ts';
import type { Collector, CollectedSpan } from '../../support/otlp-collector.ts';
import { outputOf, startProgram } from '../../support/start-program.ts';
import { startedUntil } from '../../support/started.ts';
import { openBeside } from '../../support/store-place.ts';

const PROGRAM = fileURLToPath(new URL('sdk-program.ts', import.meta.url));
const REQUESTS = 4;
/** Clocks are read in whole milliseconds in each process. */
const CLOCK_MS = 2.1;

function environment(collector: Collector, service: string): Record<string, string> {
  return {
    ...bareEnvironment(),
    NODE_OPTIONS: '--disable-warning=ExperimentalWarning',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    OTEL_SERVICE_NAME: service,
    OTEL_BSP_SCHEDULE_DELAY: '50',
  };
}

async function startEngine(collector: Collector, role: 'engine' | 'failing-engine'): Promise<string> {
  const ready = /engine on (http:\/\/\S+)/;
  const program = await startProgram('node', [PROGRAM, role], { env: environment(collector, role), ready });
  onTestFinished(async () => void (await program.end()));
  return ready.exec(program.output)![1]!;
}

const VARIANTS = COMBINATIONS.map((combination, i) => ({ ...combination, workers: i + 1 }));

test.each(VARIANTS)('$listener, $store, workers: $workers', async ({ listener, store, workers }) => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const started = startedUntil(onTestFinished);
  const { url, folder } = await started.place(store);
  const beside = await openBeside(url);
  started.closes(() => beside.close());
  const team = await makeTeam(beside);
  const [failing, engine] = [await startEngine(collector, 'failing-engine'), await startEngine(collector, 'engine')];
  const file = join(folder, 'lingate.yaml');
  const otel = { endpoint: collector.url, sample: 0, follow_callers: true };
  const engines = { failing: { urls: [failing] }, engine: { urls: [engine] } };
  await writeFile(file, JSON.stringify({ listener, store: url, engines, otel }));
  const gateway = await startGatewayProcess({
    args: ['serve', '--config', file, '--listen', '127.0.0.1:0', '--ops', '127.0.0.1:0', '--workers', String(workers)],
    cwd: folder,
    env: { OTEL_BSP_SCHEDULE_DELAY: '50' },
  });
  const called = await outputOf('node', [PROGRAM, 'caller', gateway.url, String(REQUESTS)], {
    env: { ...environment(collector, 'caller'), CALLER_KEY: team.key },
  });
  const traces = [...called.matchAll(/^([0-9a-f]{32}) (\d+)$/gm)].map((match) => ({ traceId: match[1]!, status: match[2] }));
  expect(traces.map(({ status }) => status)).toEqual(Array.from({ length: REQUESTS }, () => '200'));
  for (const { traceId } of traces) {
    const ofTrace = (): readonly CollectedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
    // checkout, its call; request, admission, settlement; attempts, two or one, because after failures the first engine may be left out;
    // and the engine of each.
    await expect.poll(() => ofTrace().filter(({ name }) => name === 'settlement').length).toBe(1);
    // Its attempts have come before; what they reached tells of them in its own time.
    const attempts = ofTrace().filter(({ name }) => name === 'engine attempt').length;
    await expect.poll(() => ofTrace().length, { timeout: 20_000 }).toBe(5 + 2 * attempts);
    judge(ofTrace(), workers);
  }
  expect(collector.spans.some(({ attributes }) => attributes['lingate.attempt'] === 2)).toBe(true);
  const seen = Buffer.concat(collector.bodies).toString('latin1');
  for (const secret of ['secret', 'translated', 'what it likes', team.key])
    expect([secret, seen.includes(secret)]).toEqual([secret, false]);
  expect(await gateway.end('SIGTERM')).toBe(0);
});

function judge(spans: readonly CollectedSpan[], workers: number): void {
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const parentOf = (span: CollectedSpan): CollectedSpan | undefined => byId.get(span.parentId);
  for (const span of spans) {
    const parent = parentOf(span);
    // Only the caller's own span has none.
    expect([span.name, parent === undefined]).toEqual([span.name, span.name === 'checkout']);
    if (parent !== undefined) expect(span.startMs).toBeGreaterThanOrEqual(parent.startMs - CLOCK_MS);
  }
  const service = (span: CollectedSpan | undefined): unknown => span?.resource['service.name'];
  const [request] = spans.filter(({ name }) => name === 'POST /v1/translate');
  expect([service(request), service(parentOf(request!))]).toEqual(['lingate', 'caller']);
  expect(request!.resource['lingate.process']).toMatch(workers === 1 ? /^gateway$/ : /^worker-[12]$/);
  for (const name of ['admission', 'settlement', 'engine attempt']) {
    for (const span of spans.filter((one) => one.name === name)) expect(parentOf(span)).toBe(request);
  }
  const attempts = spans.filter(({ name }) => name === 'engine attempt');
  const served = spans.filter((span) => String(service(span)).includes('engine'));
  expect(served.map((span) => span.parentId).toSorted()).toEqual(attempts.map(({ spanId }) => spanId).toSorted());
  for (const span of served) {
    const attempt = parentOf(span)!;
    expect(attempt.attributes['lingate.engine']).toBe(service(span) === 'failing-engine' ? 'failing' : 'engine');
    // It ends when its connection has taken the answer, which the gateway may have read before.
    expect(span.startMs).toBeLessThanOrEqual(attempt.endMs + CLOCK_MS);
  }
}
