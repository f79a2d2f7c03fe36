// The watch over clocks: one line when one is no longer believed, one when it is again, whatever the store answers meanwhile.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { JudgedClock } from '../../../src/domain/judged-clock.ts';
import type { ClockStep } from '../../../src/ports/clock.ts';
import { ClockWatch } from '../../../src/runtime/clock-watch.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import { SteppingClock } from '../../support/stepping-clock.ts';

const DAY_MS = 86_400_000;

let lines: [level: string, text: string, members: unknown][];
let machine: SteppingClock;
let step: ClockStep | undefined;
let looks: number;
let watch: ClockWatch;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  [lines, step, looks] = [[], undefined, 0];
  machine = new SteppingClock(new MovableClock());
  const log = (level: string) => (text: string, members?: unknown) => void lines.push([level, text, members]);
  watch = new ClockWatch({
    clock: new JudgedClock(machine),
    store: {
      step: () => step,
      look: () => (looks++ % 2 === 0 ? Promise.resolve(undefined) : Promise.reject(new Error('a bug'))),
    },
    log: { info: log('info'), warn: log('warn'), error: log('error') },
  });
});

afterEach(async () => {
  await watch.close();
  vi.useRealTimers();
});

test('looks at once and twice a second, even after the store has failed', async () => {
  await vi.advanceTimersByTimeAsync(5000);
  expect(looks).toBe(11);
  expect(lines).toEqual([]);
});

test('a step of this machine’s clock is one line, and its end another', async () => {
  machine.offByMs = -500 * DAY_MS;
  await vi.advanceTimersByTimeAsync(5000);
  expect(watch.step()).toEqual({ byMs: -500 * DAY_MS });
  expect(lines).toEqual([['warn', expect.stringContaining('the clock is not believed'), { step_seconds: -43_200_000 }]]);
  machine.offByMs = 0;
  await vi.advanceTimersByTimeAsync(5000);
  expect(watch.step()).toBeUndefined();
  expect(lines.slice(1)).toEqual([['info', 'the clock is believed again', { step_seconds: -43_200_000 }]]);
});

test('a step of a server’s clock names the server', async () => {
  step = { byMs: 35 * DAY_MS, server: '10.0.0.7:6379' };
  await vi.advanceTimersByTimeAsync(500);
  expect(lines).toEqual([['warn', expect.any(String), { step_seconds: 3_024_000, server: '10.0.0.7:6379' }]]);
});
