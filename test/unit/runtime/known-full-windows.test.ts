// A refusal by a rate is repeated exactly for as long as the store would repeat it: by key and address, at most a second, bounded.
import { expect, test } from 'vitest';
import type { RateLimited } from '../../../src/ports/ledger.ts';
import { KnownFullWindows } from '../../../src/runtime/refusals.ts';

const KEY = { keyId: 'K' };
/** Clocks may differ by a thousandth. */
const DRIFT = 0.999;

function refusedFor(fullForMs: number | undefined, limit = 5): RateLimited {
  return { kind: 'rate_limited', limit, retryAfterMs: 1000, fullForMs };
}

function windows(keysMax = 10) {
  const clock = { ms: 5000 };
  const full = new KnownFullWindows({ keysMax, now: () => clock.ms });
  const isKnown = (keyId = 'K', address?: string, scope?: string): boolean => full.refusal({ keyId, address, scope }) !== undefined;
  return { clock, full, isKnown };
}

test('a refusal is repeated until the time that the store named, counted from when it was asked', () => {
  const { clock, full, isKnown } = windows();
  const refused = refusedFor(300);
  clock.ms = 5040;
  full.note(KEY, refused, 5000);
  expect(full.refusal(KEY)).toBe(refused);
  clock.ms = 5000 + 300 * DRIFT - 0.001;
  expect(isKnown()).toBe(true);
  clock.ms = 5000 + 300 * DRIFT;
  expect(isKnown()).toBe(false);
});

test.each([
  ['the store does not say for how long', refusedFor(undefined), 5000],
  ['it holds no longer', refusedFor(0), 5000],
  ['the answer took longer than it holds', refusedFor(300), 4600],
])('nothing is repeated if %s', (_why, refused, askedAtMs) => {
  const { full, isKnown } = windows();
  full.note(KEY, refused, askedAtMs);
  expect(isKnown()).toBe(false);
  expect(full.isEmpty).toBe(true);
});

test('whatever the store says, nothing is repeated for longer than a second', () => {
  const { clock, full, isKnown } = windows();
  full.note(KEY, refusedFor(3_600_000), 5000);
  clock.ms = 5998;
  expect(isKnown()).toBe(true);
  clock.ms = 6000;
  expect(isKnown()).toBe(false);
});

test('of several answers the one that holds longest counts, in whatever order they arrive', () => {
  for (const order of [
    [refusedFor(100), refusedFor(200, 6)],
    [refusedFor(200, 6), refusedFor(100)],
  ]) {
    const { clock, full } = windows();
    for (const refused of order) full.note(KEY, refused, 5000);
    clock.ms = 5150;
    expect(full.refusal(KEY)?.limit).toBe(6);
  }
});

test('a key, and each address and scope of it, is remembered apart', () => {
  const { full, isKnown } = windows();
  full.note({ keyId: 'K', address: '10.0.0.1' }, refusedFor(300), 5000);
  expect([isKnown('K', '10.0.0.1'), isKnown('K', '10.0.0.2'), isKnown('K'), isKnown('L', '10.0.0.1')]).toEqual([true, false, false, false]);
  full.note({ keyId: 'S', scope: 'usage:read' }, refusedFor(300), 5000);
  expect([isKnown('S', undefined, 'usage:read'), isKnown('S'), isKnown('S', undefined, '')]).toEqual([true, false, false]);
  full.note(KEY, refusedFor(300), 5000);
  expect([isKnown('K'), isKnown('K', '10.0.0.2'), isKnown('L')]).toEqual([true, false, false]);
});

test('a change drops everything, and what the store was asked before it is not remembered', () => {
  const { clock, full, isKnown } = windows();
  full.note(KEY, refusedFor(1000), 5000);
  full.drop();
  expect([isKnown(), full.isEmpty]).toEqual([false, true]);
  clock.ms = 5010;
  full.note(KEY, refusedFor(1000), 5000);
  expect(isKnown()).toBe(false);
  full.note(KEY, refusedFor(1000), 5000.01);
  expect(isKnown()).toBe(true);
});

test('the oldest are given up beyond the bound, and those that have ended leave nothing behind', () => {
  const { clock, full, isKnown } = windows(3);
  for (const keyId of ['A', 'B', 'C', 'D']) full.note({ keyId }, refusedFor(500), 5000);
  expect(['A', 'B', 'C', 'D'].map((keyId) => isKnown(keyId))).toEqual([false, true, true, true]);
  clock.ms = 6000;
  full.note({ keyId: 'E' }, refusedFor(100), 6000);
  clock.ms = 5000;
  expect(['B', 'C', 'D', 'E'].map((keyId) => isKnown(keyId))).toEqual([false, false, false, true]);
});

const tagged = (name: string) => ({ ...KEY, tag: { name } });

test('a tag of which the store was not asked is not refused, because it may be disabled, which is said first', () => {
  const { clock, full } = windows();
  full.note(tagged('a'), refusedFor(900), 5000);
  const known = (...names: string[]): boolean[] => names.map((name) => full.refusal(tagged(name)) !== undefined);
  expect([...known('a', 'b'), full.refusal(KEY) !== undefined]).toEqual([true, false, true]);
  clock.ms = 5500;
  full.note(tagged('b'), refusedFor(400), 5500);
  expect(known('a', 'b', 'c')).toEqual([true, true, false]);
  // The window has filled again, and of the first one the store was asked a second ago.
  clock.ms = 5900;
  full.note(tagged('b'), refusedFor(900), 5900);
  clock.ms = 6000;
  expect(known('a', 'b')).toEqual([false, false]);
  full.note(tagged('a'), refusedFor(100), 6000);
  expect(known('a', 'b')).toEqual([true, false]);
});

test("what is refused by a tag's own limit is refused with this tag only", () => {
  const { full } = windows();
  full.note(tagged('a'), { ...refusedFor(300), of: 'tag' }, 5000);
  expect([full.refusal(tagged('a')), full.refusal(tagged('b')), full.refusal(KEY)].map((one) => one?.of)).toEqual([
    'tag',
    undefined,
    undefined,
  ]);
});

test('a flood with ever new tags asks the store for a hundred of them in a second, though its window fills again and again', () => {
  const { clock, full } = windows();
  let asked = 0;
  for (let n = 0; n < 1000; n++) {
    clock.ms = 5000 + n / 2;
    if (full.refusal(tagged(`tag-${n}`)) !== undefined) continue;
    asked++;
    full.note(tagged(`tag-${n}`), refusedFor(300), clock.ms);
  }
  // From when the last of a hundred was asked until its refusal ends.
  expect(asked).toBeLessThanOrEqual(102);
});
