// The packed window counts like a list of slots, whatever the clock does, and is read back from its bytes unchanged.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RATE_WINDOW_MS } from '../../../../src/domain/reservation.ts';
import { RateWindow } from '../../../../src/stores/sqlite/rate-window.ts';

/** The same with a number for each slot. */
class PlainWindow {
  places: number[] = [];

  waitMs(limit: number, nowMs: number): number {
    const backMs = Math.max(0, ...this.places.map((place) => place - nowMs));
    this.places = this.places.map((place) => place - backMs).filter((place) => nowMs - place < RATE_WINDOW_MS);
    const decisive = this.places[this.places.length - limit];
    return decisive === undefined ? 0 : decisive + RATE_WINDOW_MS - nowMs;
  }
}

const step = fc.record({
  ms: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 1100 }), fc.integer({ min: -1500, max: -1 })),
  times: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 100, max: 300 })),
  limit: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.integer({ min: 100, max: 1000 })),
  isStored: fc.boolean(),
});

test('any number of slots at any times: the same waits as with a plain list, also after storing and reading it back', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60 }), (steps) => {
      const plain = new PlainWindow();
      let window = new RateWindow(new Uint8Array(), 0);
      let nowMs = 1_700_000_000_000;
      for (const { ms, times, limit, isStored } of steps) {
        nowMs += ms;
        for (let time = 0; time < times; time++) {
          const certain = window.hasRoom(limit, nowMs);
          const waitMs = window.waitMs(limit, nowMs);
          expect(waitMs).toBe(plain.waitMs(limit, nowMs));
          if (certain) expect(waitMs).toBe(0);
          if (waitMs > 0) break;
          window.take(nowMs);
          plain.places.push(nowMs);
          expect(window.total).toBe(plain.places.length);
        }
        if (isStored) window = new RateWindow(window.packed().slice(), window.newestMs);
        const unpacked = new RateWindow(window.packed(), window.newestMs)
          .entries()
          .flatMap(({ atMs, count }) => Array<number>(count).fill(atMs));
        expect(unpacked).toEqual(plain.places);
      }
    }),
  );
});

test('a second at any rate takes at most a few kilobytes', () => {
  const window = new RateWindow(new Uint8Array(), 0);
  for (let ms = 0; ms < 3 * RATE_WINDOW_MS; ms++) for (let time = 0; time < 200; time++) window.take(ms);
  expect(window.total).toBe(200 * RATE_WINDOW_MS);
  expect(window.packed().length).toBeLessThanOrEqual(3 * RATE_WINDOW_MS);
});
