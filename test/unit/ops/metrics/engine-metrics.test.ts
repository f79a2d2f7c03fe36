// Metrics of engines: each has the engine's name, every series exists from the start, and names are only those of the configuration.
import { expect, test } from 'vitest';
import { openMetrics } from '../../../../src/ops/metrics/metrics.ts';
import type { Metrics } from '../../../../src/ops/metrics/metrics.ts';
import { ACCESS_ENTRY } from '../../../support/access-entry.ts';

/** The series of engines with their values, without histogram buckets. */
async function shown(metrics: Metrics, name = 'lingate_engine_'): Promise<Record<string, number>> {
  const lines = (await metrics.render()).split('\n').filter((line) => line.startsWith(name) && !line.includes('_bucket'));
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const ENTRY = { ...ACCESS_ENTRY, engine: 'large' };

test('every series of an engine exists from the start, at 0', async () => {
  const metrics = openMetrics();
  for (const name of ['alpha', 'beta']) metrics.engine(name).replica(`http://${name}`);
  metrics.engineLoads(() => [
    { engine: 'alpha', inFlight: 0, waiting: 0 },
    { engine: 'beta', inFlight: 0, waiting: 0 },
  ]);
  const series = await shown(metrics);
  // Only the histogram of requests has no engine: it is their whole wait, for whatever engines.
  const ofRequests = ['lingate_engine_duration_seconds_sum', 'lingate_engine_duration_seconds_count'];
  const ofEngines = Object.keys(series).filter((one) => !ofRequests.includes(one));
  const of = (name: string): string[] =>
    ofEngines.filter((one) => one.includes(`engine="${name}"`)).map((one) => one.replaceAll(name, 'NAME'));
  expect(of('alpha')).toEqual(of('beta'));
  expect(of('alpha').length + of('beta').length).toBe(ofEngines.length);
  expect(new Set(of('alpha').map((one) => one.slice(0, one.indexOf('{'))))).toEqual(
    new Set(
      [
        'attempts_total',
        'attempt_duration_seconds_sum',
        'attempt_duration_seconds_count',
        'second_attempts_total',
        'quota_exhausted_total',
        'batches_total',
        'batched_requests_total',
        'tokens_total',
        'unasked_total',
        'characters_total',
        'calls_in_flight',
        'calls_waiting',
      ].map((name) => `lingate_engine_${name}`),
    ),
  );
  expect(Object.values(series).filter((value) => value !== 0)).toEqual([]);
});

test('an engine with a limit shows whether it has used up its characters', async () => {
  const metrics = openMetrics();
  metrics.engineLimits(() => [{ engine: 'alpha', reached: true }]);
  expect(await shown(metrics, 'lingate_engine_limit_reached')).toEqual({ 'lingate_engine_limit_reached{engine="alpha"}': 1 });
});

test('what an engine does is counted only for that engine', async () => {
  const metrics = openMetrics();
  const [small, large] = [metrics.engine('small'), metrics.engine('large')];
  small.replica('http://a')('usable', 10);
  small.replica('http://a')('engine_quota', 30);
  large.second('usable');
  large.second('status');
  large.second('cancelled');
  small.batch(3);
  small.batch(2);
  large.tokens({ prompt: 10, completion: 7 });
  large.unasked();
  metrics.requests.record(ENTRY);
  metrics.requests.record({ ...ENTRY, characters: 0, code: 'engine_unavailable', status: 503 });
  // Neither a forward route nor an unknown name.
  metrics.requests.record({ ...ENTRY, engine: undefined });
  metrics.requests.record({ ...ENTRY, engine: 'gone' });
  metrics.engineLoads(() => [{ engine: 'large', inFlight: 4, waiting: 2 }]);
  const counted = Object.entries(await shown(metrics)).filter(([, value]) => value > 0);
  expect(Object.fromEntries(counted)).toEqual({
    'lingate_engine_attempts_total{engine="small",replica="http://a",outcome="usable"}': 1,
    'lingate_engine_attempts_total{engine="small",replica="http://a",outcome="engine_quota"}': 1,
    'lingate_engine_attempt_duration_seconds_sum{engine="small"}': 0.04,
    'lingate_engine_attempt_duration_seconds_count{engine="small"}': 2,
    'lingate_engine_quota_exhausted_total{engine="small"}': 1,
    'lingate_engine_second_attempts_total{engine="large",result="usable"}': 1,
    'lingate_engine_second_attempts_total{engine="large",result="failed"}': 1,
    'lingate_engine_batches_total{engine="small"}': 2,
    'lingate_engine_batched_requests_total{engine="small"}': 5,
    'lingate_engine_tokens_total{engine="large",kind="prompt"}': 10,
    'lingate_engine_tokens_total{engine="large",kind="completion"}': 7,
    'lingate_engine_unasked_total{engine="large"}': 1,
    'lingate_engine_characters_total{engine="large"}': 5,
    'lingate_engine_calls_in_flight{engine="large"}': 4,
    'lingate_engine_calls_waiting{engine="large"}': 2,
  });
  expect(await shown(metrics, 'lingate_characters_total')).toEqual({ lingate_characters_total: 15 });
});

test('unexpected bytes from targets of forward routes have no engine', async () => {
  const metrics = openMetrics();
  metrics.forwardUnasked()();
  expect(await shown(metrics, 'lingate_engine_unasked')).toEqual({ 'lingate_engine_unasked_total{engine=""}': 1 });
});
