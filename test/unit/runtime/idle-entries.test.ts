// Unused entries are removed from a cache automatically, and used ones are kept.
import { LRUCache } from 'lru-cache';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IDLE_ENTRIES, purgeIdle } from '../../../src/runtime/idle-entries.ts';

const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an entry that is unused for ten minutes is removed within another minute; a used one is kept', () => {
  const cache = new LRUCache<string, object>({ max: 9, ...IDLE_ENTRIES, perf: { now: () => Date.now() } });
  purgeIdle(cache);
  cache.set('used', {});
  cache.set('idle', {});
  for (let minute = 0; minute < 9; minute++) {
    vi.advanceTimersByTime(MINUTE_MS);
    expect(cache.get('used')).toEqual({});
  }
  expect(cache.size).toBe(2);
  vi.advanceTimersByTime(3 * MINUTE_MS);
  // Without a look-up.
  expect([...cache.keys()]).toEqual(['used']);
});
