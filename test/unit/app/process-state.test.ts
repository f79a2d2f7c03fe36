// Several processes' views of the engine become one: counts are summed, and the latest moment counts.
import { expect, test } from 'vitest';
import { mergeReplicas } from '../../../src/app/process-state.ts';
import type { EngineReplica } from '../../../src/app/process-state.ts';

const UNUSED: EngineReplica = {
  engine: 'default',
  url: 'http://a/',
  usable: 0,
  failed: 0,
  usableAgoMs: undefined,
  lastFailure: undefined,
  asideMs: undefined,
};
const merged = (...processes: readonly EngineReplica[][]) => mergeReplicas(processes.map((replicas) => ({ replicas })));

test('counts of a replica are summed, and what was last is the latest of any process', () => {
  const one: EngineReplica = { ...UNUSED, usable: 3, failed: 1, usableAgoMs: 900, lastFailure: { failure: 'timeout', agoMs: 50 } };
  const other: EngineReplica = { ...UNUSED, usable: 4, failed: 2, usableAgoMs: 20, lastFailure: { failure: 'reset', agoMs: 70 } };
  const both: EngineReplica = { ...UNUSED, usable: 7, failed: 3, usableAgoMs: 20, lastFailure: { failure: 'timeout', agoMs: 50 } };
  expect([merged([one], [other]), merged([other], [one])]).toEqual([[both], [both]]);
});

test('a process that has not used a replica adds nothing, whichever comes first', () => {
  const used: EngineReplica = { ...UNUSED, failed: 1, lastFailure: { failure: 'connect', agoMs: 5 } };
  expect([merged([used], [UNUSED]), merged([UNUSED], [used]), merged([UNUSED], [UNUSED])]).toEqual([[used], [used], [UNUSED]]);
});

test('a replica that only some of them know stands behind those before it', () => {
  const other = { ...UNUSED, url: 'http://b/' };
  expect(merged([UNUSED], [UNUSED, other]).map(({ url }) => url)).toEqual(['http://a/', 'http://b/']);
});

test('set aside in one process is set aside, for the longest time of any', () => {
  const aside = (asideMs: number | undefined): EngineReplica => ({ ...UNUSED, asideMs });
  const ofBoth = (a: number | undefined, b: number | undefined) => merged([aside(a)], [aside(b)])[0]!.asideMs;
  expect([ofBoth(undefined, undefined), ofBoth(0, undefined), ofBoth(undefined, 7), ofBoth(9, 7)]).toEqual([undefined, 0, 7, 9]);
});
