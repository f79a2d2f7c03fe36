// Which time a process believes: after steps of its wall clock, after a start, and by what a store remembers.
import { beforeEach, describe, expect, test } from 'vitest';
import { JudgedClock } from '../../../src/domain/judged-clock.ts';
import type { ClockMark } from '../../../src/domain/judged-clock.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { SteppingClock } from '../../support/stepping-clock.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const HELD_MS = 10 * MINUTE_MS;

let real: MovableClock;
let machine: SteppingClock;
let clock: JudgedClock;

beforeEach(() => {
  real = new MovableClock();
  machine = new SteppingClock(real);
  clock = new JudgedClock(machine);
});

/** The watch looks twice a second; the tests once. */
function pass(ms: number, each = clock): void {
  for (let left = ms; left > 0; left -= 1000) {
    real.step(Math.min(left, 1000));
    each.look();
  }
}

const STEPS = [2 * HOUR_MS, 35 * DAY_MS, 500 * DAY_MS, 3653 * DAY_MS].flatMap((ms) => [ms, -ms]);

describe.each(STEPS)('a step of %i ms', (stepMs) => {
  test('is not believed, and time goes on meanwhile', () => {
    machine.offByMs = stepMs;
    expect(clock.nowMs()).toBe(real.nowMs());
    expect(clock.stepMs).toBe(stepMs);
    pass(5000);
    expect(clock.nowMs()).toBe(real.nowMs());
    machine.offByMs = 0;
    expect(clock.nowMs()).toBe(real.nowMs());
    expect(clock.stepMs).toBe(0);
  });

  test('is believed once it has held for ten minutes, and not before', () => {
    machine.offByMs = stepMs;
    clock.look();
    pass(HELD_MS - 1000);
    expect(clock.nowMs()).toBe(real.nowMs());
    pass(1000);
    expect(clock.nowMs()).toBe(real.nowMs() + stepMs);
    expect(clock.stepMs).toBe(0);
  });

  test('has to hold again after every change', () => {
    machine.offByMs = stepMs;
    pass(HELD_MS - 1000);
    machine.offByMs = 0;
    pass(1000);
    machine.offByMs = stepMs;
    pass(HELD_MS - 1000);
    expect(clock.nowMs()).toBe(real.nowMs());
  });

  test('is believed at once if it is accepted', () => {
    machine.offByMs = stepMs;
    clock.accept();
    expect(clock.nowMs()).toBe(real.nowMs() + stepMs);
    expect(clock.stepMs).toBe(0);
  });
});

test.each([1, 1000, HOUR_MS].flatMap((ms) => [ms, -ms]))('a step of %i ms is followed at once', (stepMs) => {
  machine.offByMs = stepMs;
  expect([clock.nowMs(), clock.stepMs]).toEqual([real.nowMs() + stepMs, 0]);
});

test('many small steps do not add up to more than an hour within ten minutes', () => {
  for (let i = 0; i < 20; i++) {
    machine.offByMs += 50 * MINUTE_MS;
    pass(5000);
    expect(Math.abs(clock.nowMs() - real.nowMs())).toBeLessThanOrEqual(HOUR_MS);
  }
});

test('a clock that is slewed, or runs at a wrong rate, is followed', () => {
  for (let i = 0; i < 5000; i++) {
    machine.offByMs += 1000;
    pass(MINUTE_MS);
    expect(clock.nowMs()).toBe(machine.wallMs());
  }
});

test('a long time in which nobody looks is no step', () => {
  real.step(40 * DAY_MS);
  expect([clock.nowMs(), clock.stepMs]).toEqual([real.nowMs(), 0]);
});

describe('a process that starts', () => {
  let mark: ClockMark;

  beforeEach(() => {
    mark = clock.compare(undefined)!;
  });

  function start(): JudgedClock {
    const started = new JudgedClock(machine);
    started.compare(mark);
    return started;
  }

  test('believes its clock after any time, if the machine has not been restarted', () => {
    real.step(61 * DAY_MS);
    const started = start();
    expect([started.nowMs(), started.stepMs]).toEqual([real.nowMs(), 0]);
  });

  test.each(STEPS)('does not believe a clock that is %i ms wrong', (stepMs) => {
    real.step(61 * DAY_MS);
    machine.offByMs = stepMs;
    const started = start();
    expect([started.nowMs(), started.stepMs]).toEqual([real.nowMs(), stepMs]);
  });

  test('on a restarted machine goes on from the store’s latest time, and believes the clock after ten minutes', () => {
    const latestMs = real.nowMs();
    real.step(61 * DAY_MS);
    machine.boot = 'the second boot';
    const started = start();
    expect([started.nowMs(), started.stepMs]).toEqual([latestMs, 61 * DAY_MS]);
    pass(HELD_MS, started);
    expect([started.nowMs(), started.stepMs]).toEqual([real.nowMs(), 0]);
  });

  test('on a restarted machine believes its clock if it was away for less than an hour', () => {
    real.step(HOUR_MS - 1);
    machine.boot = 'the second boot';
    expect(start().nowMs()).toBe(real.nowMs());
  });
});

describe('processes that share a store', () => {
  let other: JudgedClock;
  let mark: ClockMark | undefined;

  /** A look of the watch: what is due is written. */
  const look = (each: JudgedClock): void => {
    mark = each.compare(mark) ?? mark;
  };

  beforeEach(() => {
    other = new JudgedClock(machine);
    mark = undefined;
    look(clock);
    look(other);
  });

  test('write the mark once a minute, and never a time that is not believed', () => {
    const first = mark;
    real.step(MINUTE_MS - 1);
    look(clock);
    expect(mark).toBe(first);
    real.step(1);
    look(clock);
    expect(mark!.latestMs).toBe(real.nowMs());
    machine.offByMs = 500 * DAY_MS;
    real.step(MINUTE_MS);
    look(clock);
    expect(mark!.latestMs).toBe(real.nowMs() - MINUTE_MS);
  });

  test.each(STEPS)('believe a step of %i ms as soon as one of them does', (stepMs) => {
    machine.offByMs = stepMs;
    look(clock);
    look(other);
    expect(other.stepMs).toBe(stepMs);
    clock.accept();
    mark = clock.mark();
    look(other);
    expect([other.nowMs(), other.stepMs]).toEqual([real.nowMs() + stepMs, 0]);
  });

  test('a wrong clock that was accepted long ago confirms no other', () => {
    machine.offByMs = 500 * DAY_MS;
    look(clock);
    machine.offByMs = 100 * DAY_MS;
    look(clock);
    expect([clock.nowMs(), clock.stepMs]).toEqual([real.nowMs(), 100 * DAY_MS]);
  });
});
