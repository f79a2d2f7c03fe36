// What /readyz says of engines and of several processes.
import { expect, test } from 'vitest';
import { engineReadiness, readinessOfAll, WAITING } from '../../../src/ops/readiness.ts';
import type { Readiness } from '../../../src/ops/readiness.ts';
import type { ReplicaHealth } from '../../../src/ports/engine.ts';
import { UNUSED_REPLICA } from '../../support/unused-replica.ts';

const GONE: ReplicaHealth = { ...UNUSED_REPLICA, reached: false, lastFailure: { failure: 'connect', agoMs: 1 } };
const GOOD: ReplicaHealth = { ...UNUSED_REPLICA, reached: true };

test.each([
  ['before the first trial', [UNUSED_REPLICA], { ok: false, cause: 'untried' }],
  ['one that cannot be reached', [GONE], { ok: false, cause: 'connect' }],
  ['one of two', [GONE, GOOD], { ok: true }],
  ['one that is set aside', [{ ...GOOD, asideMs: 10 }], { ok: false, cause: 'untried' }],
])('an engine with %s', (_name, replicas, expected) => {
  expect(engineReadiness(replicas)).toEqual(expected);
});

test('of several processes the worst counts, and one that does not answer is not ready', () => {
  const ready: Readiness = {
    ready: true,
    store: { ok: true },
    engines: { a: { ok: true }, b: { ok: true } },
    clock: { ok: true },
    draining: false,
  };
  const other: Readiness = {
    ...ready,
    engines: { a: { ok: true }, b: { ok: false, cause: 'connect' } },
    clock: { ok: false, step_seconds: 7200 },
  };
  for (const pair of [
    [ready, other],
    [other, ready],
  ])
    expect(readinessOfAll(pair)).toEqual({ ...other, ready: true });
  expect(readinessOfAll([ready, undefined])).toEqual({ ...ready, ready: false });
  expect(readinessOfAll([ready, WAITING])).toMatchObject({ ready: false, store: { ok: false } });
});
