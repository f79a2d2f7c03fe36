// The packed slots count like a list of slots, whatever the clock does, and is read back from its bytes unchanged.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { RATE_WINDOW_MS } from '../../../src/domain/reservation.ts';
import { Slots, slotsOf } from '../../../src/ledger/rate.ts';

/** The same with a number for each slot. */
class PlainWindow {
  places: number[] = [];

  waitMs(limit: number, nowMs: number): number {
    const backMs = Math.max(0, ...this.places.map((place) => place - nowMs));
    this.places = this.places.map((place) => place - backMs);
    const decisive = this.places[this.places.length - limit];
    return decisive === undefined ? 0 : Math.max(0, decisive + RATE_WINDOW_MS - nowMs);
  }

  take(nowMs: number): void {
    this.places = [...this.places.filter((place) => nowMs - place < RATE_WINDOW_MS), nowMs];
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
      let window = new Slots();
      let nowMs = 1_700_000_000_000;
      for (const { ms, times, limit, isStored } of steps) {
        nowMs += ms;
        for (let time = 0; time < times; time++) {
          const waitMs = window.waitMs(limit, nowMs);
          expect(waitMs).toBe(plain.waitMs(limit, nowMs));
          if (waitMs > 0) break;
          window.take(nowMs);
          plain.take(nowMs);
          expect(window.taken).toBe(plain.places.length);
        }
        if (isStored) window = new Slots(window.packed().slice(), window.newestMs);
        const unpacked = new Slots(window.packed(), window.newestMs)
          .entries()
          .flatMap(({ atMs, count }) => Array<number>(count).fill(atMs));
        expect(unpacked).toEqual(plain.places);
        expect(slotsOf(window.entries()).entries()).toEqual(window.entries());
      }
    }),
  );
});

test('a second at any rate takes at most a few kilobytes', () => {
  const window = new Slots();
  for (let ms = 0; ms < 3 * RATE_WINDOW_MS; ms++) for (let time = 0; time < 200; time++) window.take(ms);
  expect(window.taken).toBe(200 * RATE_WINDOW_MS);
  expect(window.packed().length).toBeLessThanOrEqual(3 * RATE_WINDOW_MS);
});
