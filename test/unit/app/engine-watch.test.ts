// What metrics and log say about a replica: its attempts, its failures, and whether it is set aside.
import { afterEach, expect, test } from 'vitest';
import { MalformedAttempt } from '../../../src/engines/attempt-judgement.ts';
import { replicaWatch } from '../../../src/app/engine-watch.ts';
import { ONLY_ENGINE } from '../../../src/domain/engine-routing.ts';
import { openMetrics } from '../../../src/ops/metrics/metrics.ts';
import type { Log, LogFields } from '../../../src/ports/log.ts';
import { FailureLog } from '../../../src/runtime/failure-log.ts';
import { work } from '../engines/engine-work.ts';

const REPLICA = 'http://127.0.0.1:7001';
const lines: (LogFields & { readonly level: string; readonly message: string })[] = [];
const line =
  (level: string) =>
  (message: string, fields: LogFields = {}): void =>
    void lines.push({ level, message, ...fields });
const log: Log = { info: line('info'), warn: line('warn'), error: line('error') };
const failures = new FailureLog(log);
const metrics = openMetrics();
const watch = replicaWatch({ engine: ONLY_ENGINE, protocol: 'openai', metrics, log, failures }, REPLICA);

afterEach(() => {
  failures.close();
  lines.length = 0;
});

test('each attempt is counted in its series, and all series exist from the start', async () => {
  const before = await metrics.render();
  const series = (outcome: string): string => `lingate_engine_attempts_total{engine="default",replica="${REPLICA}",outcome="${outcome}"}`;
  for (const outcome of ['usable', 'connect', 'cut_off', 'cancelled']) expect(before).toContain(`${series(outcome)} 0\n`);
  watch.attempted('usable', 20);
  watch.attempted('usable', 300);
  watch.attempted('engine_quota', 40);
  watch.attempted('cancelled', 5000);
  const after = await metrics.render();
  expect(after).toContain(`${series('usable')} 2\n`);
  expect(after).toContain(`${series('engine_quota')} 1\n`);
  expect(after).toContain('lingate_engine_quota_exhausted_total{engine="default"} 1\n');
  // When a caller leaves, that says nothing about how long the engine takes.
  expect(after).toContain('lingate_engine_attempt_duration_seconds_count{engine="default"} 3\n');
  expect(after).toContain('lingate_engine_attempt_duration_seconds_sum{engine="default"} 0.36\n');
  expect(after).toContain('lingate_engine_attempt_duration_seconds_bucket{le="0.05",engine="default"} 2\n');
});

test('a replica that a later reload adds again continues its series', async () => {
  const again = replicaWatch({ engine: ONLY_ENGINE, protocol: 'openai', metrics, log, failures }, 'http://again');
  again.attempted('reset', 1);
  replicaWatch({ engine: ONLY_ENGINE, protocol: 'openai', metrics, log, failures }, 'http://again').attempted('reset', 1);
  const rendered = (await metrics.render()).split('\n').filter((one) => one.includes('replica="http://again",outcome="reset"'));
  expect(rendered).toEqual(['lingate_engine_attempts_total{engine="default",replica="http://again",outcome="reset"} 2']);
});

test('a failure is logged with engine, replica, protocol, pair, and what is known about it', () => {
  watch.failed(work({ sourceLang: 'EN', requestId: 'R1' }), { failure: 'status', status: 401 });
  watch.failed(work({ requestId: 'R2' }), { failure: 'connect', cause: 'refused' });
  const bug = new TypeError('about a text');
  watch.failed(work({ requestId: 'R3' }), { failure: 'internal', thrown: bug });
  watch.failed(work({ requestId: 'R4' }), { failure: 'wrong_shape', thrown: 'about a text' });
  const common = { level: 'warn', message: 'engine attempt failed', engine: 'default', replica: REPLICA, protocol: 'openai' };
  expect(lines).toEqual([
    { ...common, pair: 'EN-DE', failure: 'status', status: 401, request_id: 'R1' },
    { ...common, pair: '*-DE', failure: 'connect', cause: 'refused', request_id: 'R2' },
    {
      ...common,
      pair: '*-DE',
      failure: 'internal',
      thrown: expect.stringMatching(/^TypeError at .*engine-watch\.test\.ts/) as unknown,
      request_id: 'R3',
    },
    { ...common, pair: '*-DE', failure: 'wrong_shape', thrown: 'string', request_id: 'R4' },
  ]);
});

test('a malformed result is logged with the module of its adapter', () => {
  const parts = { engine: ONLY_ENGINE, protocol: 'mine', metrics, log, failures };
  const thrown = new MalformedAttempt('kind: is neither usable nor unusable');
  replicaWatch({ ...parts, module: './mine.ts' }, REPLICA).failed(work({ requestId: 'R5' }), { failure: 'internal', thrown });
  expect(lines.at(-1)).toMatchObject({ thrown: 'MalformedAttempt (kind: is neither usable nor unusable) of ./mine.ts' });
});

test('setting a replica aside and its return are logged with a line each', () => {
  watch.setAside({ failure: 'status', status: 503 }, 7000);
  watch.back();
  expect(lines).toEqual([
    { level: 'warn', message: 'engine replica set aside', engine: 'default', replica: REPLICA, failure: 'status', status: 503, seconds: 7 },
    { level: 'info', message: 'engine replica is back', engine: 'default', replica: REPLICA },
  ]);
});

test('the gauge has only the replicas that are configured now', async () => {
  let replicas = [
    { engine: 'default', replica: 'http://a', up: true },
    { engine: 'default', replica: 'http://b', up: false },
  ];
  metrics.engineReplicas(() => replicas);
  const shown = async (): Promise<string[]> =>
    (await metrics.render()).split('\n').filter((one) => one.startsWith('lingate_engine_replica_up{'));
  expect(await shown()).toEqual([
    'lingate_engine_replica_up{engine="default",replica="http://a"} 1',
    'lingate_engine_replica_up{engine="default",replica="http://b"} 0',
  ]);
  replicas = replicas.slice(1);
  expect(await shown()).toEqual(['lingate_engine_replica_up{engine="default",replica="http://b"} 0']);
});
