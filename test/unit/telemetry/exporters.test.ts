// Exports that do not go out: what waits is bounded, each is told in one line at most a minute, and closing ends them at once.
import { performance } from 'node:perf_hooks';
import { expect, onTestFinished, test } from 'vitest';
import type { Log } from '../../../src/ports/log.ts';
import type { OtelExport, OtelSettings } from '../../../src/ports/telemetry.ts';
import { ExportLog } from '../../../src/telemetry/export-log.ts';
import { openTelemetry } from '../../../src/telemetry/open-telemetry.ts';
import { ACCESS_ENTRY } from '../../support/access-entry.ts';
import { startCollector } from '../../support/otlp-collector.ts';

const REQUEST = { id: '01', head: { method: 'GET', path: '/', query: '', headers: {} }, startedAtMs: 0 };
function openWith(url: string, log: Log): ReturnType<typeof openTelemetry> {
  const one: OtelExport = {
    url: `${url}/v1/traces`,
    headers: {},
    encoding: 'protobuf',
    gzip: false,
    timeoutMs: 60_000,
    ca: undefined,
    cert: undefined,
    key: undefined,
  };
  const settings: OtelSettings = {
    traces: one,
    metrics: undefined,
    sample: 1,
    followCallers: false,
    serviceName: 'test',
    queue: { delayMs: 10, spansMax: 8, batchMax: 4 },
    metricsEveryMs: 60_000,
    variables: [],
  };
  const metrics = (): Promise<[]> => Promise.resolve([]);
  return openTelemetry({ settings, version: '1', process: 'gateway', metrics, log, now: () => performance.now(), nowMs: () => Date.now() });
}

function toldBy(lines: object[]): Log {
  const note = (message: string, fields?: object): void => void lines.push({ message, ...fields });
  return { info: note, warn: note, error: note };
}

test('with a collector that does not answer, no more than the queue is kept, and closing waits no longer than it is told', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  collector.always('hang');
  const lines: object[] = [];
  const telemetry = await openWith(collector.url, toldBy(lines));
  for (let i = 0; i < 100; i++) telemetry.tracer!.begin(REQUEST)!.ended(ACCESS_ENTRY);
  await expect.poll(() => collector.bodies.length).toBe(1);
  for (let i = 0; i < 100; i++) telemetry.tracer!.begin(REQUEST)!.ended(ACCESS_ENTRY);
  const startedMs = performance.now();
  await telemetry.close(50);
  expect(performance.now() - startedMs).toBeLessThan(30_000);
  // Four were under way, which are told first, and four waited: whatever came besides was dropped.
  expect(lines[0]).toMatchObject({ reason: 'closed', items_lost: 192 + 4 });
});

test('what waits is sent when it is closed', async () => {
  const collector = await startCollector();
  onTestFinished(() => collector.close());
  const telemetry = await openWith(collector.url, toldBy([]));
  for (let i = 0; i < 7; i++) telemetry.tracer!.begin(REQUEST)!.ended(ACCESS_ENTRY);
  await telemetry.close(30_000);
  expect(collector.spans.length).toBe(7);
});

test('a failure is told at once, then once a minute with what was lost, and its end once', () => {
  const lines: object[] = [];
  let nowMs = 0;
  const log = new ExportLog({ log: toldBy(lines), signal: 'traces', url: 'http://c/v1/traces', now: () => nowMs });
  log.worked();
  log.failed(5, 'status:500');
  log.dropped(2);
  log.failed(5, 'timeout');
  nowMs = 60_000;
  log.failed(1, 'timeout');
  log.worked();
  log.worked();
  const common = { signal: 'traces', url: 'http://c/v1/traces' };
  const failing = 'OpenTelemetry: exports fail and are lost; callers notice nothing';
  expect(lines).toEqual([
    { message: failing, ...common, reason: 'status:500', failed: 1, items_lost: 5 },
    { message: failing, ...common, reason: 'timeout', failed: 2, items_lost: 8 },
    { message: 'OpenTelemetry: exports work again', ...common, failed: 0, items_lost: 0 },
  ]);
});
