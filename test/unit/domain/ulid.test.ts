// Generated ULIDs: canonical, with their time, and each greater than the one before.
import { decodeTime } from 'ulid';
import { describe, expect, test } from 'vitest';
import { canonicalUlid, ulidSource } from '../../../src/domain/ulid.ts';

describe('a source of ULIDs', () => {
  test('gives canonical ids that contain the time', () => {
    let nowMs = 1_763_769_600_123;
    const next = ulidSource(() => nowMs);
    for (const ms of [nowMs, nowMs + 1, 2 ** 48 - 1]) {
      nowMs = ms;
      const id = next();
      expect(canonicalUlid(id)).toBe(id);
      expect(decodeTime(id)).toBe(ms);
    }
  });

  test('gives each greater than the one before, within a millisecond and when the clock steps back', () => {
    let nowMs = 1000;
    const next = ulidSource(() => nowMs);
    let before = '';
    for (let i = 0; i < 5000; i++) {
      nowMs = i % 7 === 0 ? nowMs - 3 : i % 500 === 0 ? nowMs + 20 : nowMs;
      const id = next();
      expect(id > before, `${id} after ${before}`).toBe(true);
      before = id;
    }
  });

  test('two sources give different ids', () => {
    const [one, other] = [ulidSource(() => 7), ulidSource(() => 7)];
    const ids = new Set(Array.from({ length: 1000 }, () => [one(), other()]).flat());
    expect(ids.size).toBe(2000);
  });
});
