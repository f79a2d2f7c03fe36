// ULIDs as they are drawn: canonical, of their time, and each greater than the one before.
import { decodeTime } from 'ulid';
import { describe, expect, test } from 'vitest';
import { canonicalUlid, ulidSource } from '../../../src/domain/ulid.ts';

describe('a source of ULIDs', () => {
  test('gives canonical ids that tell the time they were drawn at', () => {
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
      expect(id > before, `${id} behind ${before}`).toBe(true);
      before = id;
    }
  });

  test('goes on when a clock stands still for more ids than a millisecond has', () => {
    const next = ulidSource(() => 5);
    let before = next();
    for (let i = 0; i < 2 ** 20 + 5; i++) {
      const id = next();
      if (!(id > before)) throw new Error(`${id} behind ${before}`);
      before = id;
    }
    expect(decodeTime(before)).toBeGreaterThan(5);
    expect(decodeTime(before)).toBeLessThan(9);
  });

  test('two sources draw apart', () => {
    const [one, other] = [ulidSource(() => 7), ulidSource(() => 7)];
    const ids = new Set(Array.from({ length: 1000 }, () => [one(), other()]).flat());
    expect(ids.size).toBe(2000);
  });
});
