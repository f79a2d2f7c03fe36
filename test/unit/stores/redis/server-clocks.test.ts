// The masters' clocks as a gateway judges them: by its own monotonic clock, by each other, by what the store remembers.
import { beforeEach, describe, expect, test } from 'vitest';
import { ServerClocks } from '../../../../src/stores/redis/server-clocks.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const HELD_MS = 10 * MINUTE_MS;
/** The store's time at 0 of the monotonic clock. */
const BEGUN_MS = Date.UTC(2026, 10, 23);

let monotonicMs: number;
let clocks: ServerClocks;

beforeEach(() => {
  monotonicMs = 5000;
  clocks = new ServerClocks({ servers: { wallMs: () => 1, monotonicMs: () => monotonicMs } });
});

const rightMs = (): number => BEGUN_MS + monotonicMs;

/** A reply of a server whose clock is wrong by this much. */
function reply(server: string, offByMs = 0): void {
  clocks.learn(server, performance.now(), performance.now(), rightMs() + offByMs);
}

/** Replies twice a second; the test's are slower. */
function pass(ms: number, replies: () => void): void {
  for (let left = ms; left > 0; left -= 5000) {
    monotonicMs += Math.min(left, 5000);
    replies();
    clocks.look();
  }
}

const NOT_HELD = { correctionMs: 0, step: undefined };

function seen(server: string) {
  return { correctionMs: clocks.correctionOf(server), step: clocks.step() };
}

describe.each([35, 500, -500])('a server whose clock steps by %i days', (days) => {
  const offByMs = days * DAY_MS;

  beforeEach(() => {
    reply('a');
    expect(seen('a')).toEqual(NOT_HELD);
    reply('a', offByMs);
  });

  test('is corrected to the time that is believed, and deadlines go by that', () => {
    monotonicMs += 1234;
    expect(clocks.correctionOf('a')).toBe(-offByMs);
    expect(clocks.at('a', performance.now() + 500)).toBe(rightMs() + 500);
    expect(clocks.now(rightMs() + offByMs)).toBe(rightMs());
    expect(clocks.step()).toEqual({ byMs: offByMs, server: 'a' });
  });

  test('does nothing after a reconnection, before its time is known again', () => {
    clocks.forget();
    expect([clocks.correctionOf('a'), clocks.at('a', performance.now())]).toEqual([0, 0]);
    reply('a', offByMs);
    expect(clocks.correctionOf('a')).toBe(-offByMs);
  });

  test('counts again once its clock is right', () => {
    reply('a');
    expect(seen('a')).toEqual(NOT_HELD);
  });

  test('is believed after ten minutes', () => {
    pass(HELD_MS - 5000, () => reply('a', offByMs));
    expect(clocks.correctionOf('a')).toBe(-offByMs);
    pass(5000, () => reply('a', offByMs));
    expect(seen('a')).toEqual(NOT_HELD);
    expect(clocks.now()).toBe(rightMs() + offByMs);
  });

  test('is believed when another gateway, or an operator, confirms its time, and by no other time', () => {
    clocks.confirm(rightMs());
    expect(clocks.correctionOf('a')).toBe(-offByMs);
    clocks.confirm(rightMs() + offByMs - MINUTE_MS);
    expect(seen('a')).toEqual(NOT_HELD);
  });

  test('does not lead the others, and is not believed while they disagree', () => {
    reply('b');
    expect([clocks.correctionOf('b'), clocks.now()]).toEqual([0, rightMs()]);
    pass(3 * HELD_MS, () => {
      reply('a', offByMs);
      reply('b');
    });
    expect([clocks.correctionOf('a'), clocks.correctionOf('b')]).toEqual([-offByMs, 0]);
    reply('b', offByMs);
    pass(HELD_MS, () => {
      reply('a', offByMs);
      reply('b', offByMs);
    });
    expect([clocks.correctionOf('a'), clocks.correctionOf('b')]).toEqual([0, 0]);
  });
});

test('a new master with a wrong clock is judged by the one before it', () => {
  reply('');
  clocks.forget();
  reply('', 35 * DAY_MS);
  expect(clocks.correctionOf('')).toBe(-35 * DAY_MS);
});

test('a gateway that starts judges by what the store remembers', () => {
  clocks.begin(rightMs());
  reply('a', 500 * DAY_MS);
  expect(clocks.correctionOf('a')).toBe(-500 * DAY_MS);
  reply('b', MINUTE_MS);
  expect(clocks.correctionOf('b')).toBe(0);
});

test('without another clock, tests move time as they like', () => {
  const given = new ServerClocks({ clock: { nowMs: () => 77 } });
  expect([given.clockFor('a'), given.now(5), given.isGiven]).toEqual([{ clock: 77 }, 77, true]);
});

test('calls say whether a server goes by its own clock, and by how much it corrects it', () => {
  const real = new ServerClocks();
  real.begin(Date.UTC(2026, 0, 1));
  const nowMs = performance.now();
  real.learn('a', nowMs, nowMs, Date.UTC(2026, 0, 1));
  expect(real.clockFor('a')).toEqual({ correction: 0 });
  real.learn('a', nowMs, nowMs, Date.UTC(2026, 0, 3));
  const correctionMs = real.correctionOf('a');
  expect(correctionMs).toBeCloseTo(-2 * DAY_MS, -3);
  expect(real.clockFor('a')).toEqual({ correction: correctionMs });
});
