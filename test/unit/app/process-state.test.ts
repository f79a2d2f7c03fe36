// Merges several processes' views of the engine: counts are added up, and the latest time is kept.
import { expect, test } from 'vitest';
import { mergeReplicas } from '../../../src/app/process-state.ts';
import type { EngineReplica } from '../../../src/app/process-state.ts';
import { UNUSED_REPLICA } from '../../support/unused-replica.ts';

const merged = (...processes: readonly EngineReplica[][]) => mergeReplicas(processes.map((replicas) => ({ replicas })));

test('counts of a replica are added up, and the last success and failure are the latest of any process', () => {
  const one: EngineReplica = { ...UNUSED_REPLICA, usable: 3, failed: 1, usableAgoMs: 900, lastFailure: { failure: 'timeout', agoMs: 50 } };
  const other: EngineReplica = { ...UNUSED_REPLICA, usable: 4, failed: 2, usableAgoMs: 20, lastFailure: { failure: 'reset', agoMs: 70 } };
  const both: EngineReplica = { ...UNUSED_REPLICA, usable: 7, failed: 3, usableAgoMs: 20, lastFailure: { failure: 'timeout', agoMs: 50 } };
  expect([merged([one], [other]), merged([other], [one])]).toEqual([[both], [both]]);
});

test('a process that has not used a replica adds nothing, whichever comes first', () => {
  const used: EngineReplica = { ...UNUSED_REPLICA, failed: 1, lastFailure: { failure: 'connect', agoMs: 5 } };
  expect([merged([used], [UNUSED_REPLICA]), merged([UNUSED_REPLICA], [used]), merged([UNUSED_REPLICA], [UNUSED_REPLICA])]).toEqual([
    [used],
    [used],
    [UNUSED_REPLICA],
  ]);
});

test('a replica that only some processes have is listed after the others', () => {
  const other = { ...UNUSED_REPLICA, url: 'http://b/' };
  expect(merged([UNUSED_REPLICA], [UNUSED_REPLICA, other]).map(({ url }) => url)).toEqual(['http://engine/', 'http://b/']);
});

test('a replica that any process has set aside is set aside, for the longest of their times', () => {
  const aside = (asideMs: number | undefined): EngineReplica => ({ ...UNUSED_REPLICA, asideMs });
  const ofBoth = (a: number | undefined, b: number | undefined) => merged([aside(a)], [aside(b)])[0]!.asideMs;
  expect([ofBoth(undefined, undefined), ofBoth(0, undefined), ofBoth(undefined, 7), ofBoth(9, 7)]).toEqual([undefined, 0, 7, 9]);
});
