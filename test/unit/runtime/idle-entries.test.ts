// What nobody asks for leaves a cache by itself, and what is asked for stays.
import { LRUCache } from 'lru-cache';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { IDLE_ENTRIES, purgeIdle } from '../../../src/runtime/idle-entries.ts';

const MINUTE_MS = 60_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('an entry that is not used for ten minutes is gone within a minute more; one that is used stays', () => {
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
  // Without being asked for it.
  expect([...cache.keys()]).toEqual(['used']);
});
