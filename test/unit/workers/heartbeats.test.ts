// Hung workers are detected after ten seconds, except by a primary that was itself suspended.
import { beforeEach, describe, expect, test } from 'vitest';
import { HEARTBEAT_MS, HeartbeatWatch } from '../../../src/workers/heartbeats.ts';

let nowMs: number;
let silent: string[];
let watch: HeartbeatWatch<string>;

beforeEach(() => {
  nowMs = 5_000;
  silent = [];
  watch = new HeartbeatWatch(
    () => nowMs,
    (worker, silentMs) => silent.push(`${worker} ${silentMs}`),
  );
});

/** Lets seconds pass, with a heartbeat of each of these workers in each. */
function pass(seconds: number, ...turning: readonly string[]): void {
  for (let second = 0; second < seconds; second++) {
    nowMs += HEARTBEAT_MS;
    for (const worker of turning) watch.beat(worker);
    watch.look();
  }
}

describe('a worker', () => {
  beforeEach(() => {
    watch.add('a');
    watch.add('b');
    pass(1, 'a', 'b');
  });

  test('with heartbeats is left alone', () => {
    pass(1000, 'a', 'b');
    expect(silent).toEqual([]);
  });

  test('without a heartbeat for more than ten seconds is named once, and no other', () => {
    pass(10, 'b');
    expect(silent).toEqual([]);
    pass(1, 'b');
    expect(silent).toEqual(['a 11000']);
    pass(100, 'b');
    expect(silent).toEqual(['a 11000']);
  });

  test('that was busy for nine seconds is left alone', () => {
    for (let time = 0; time < 20; time++) {
      pass(9, 'b');
      pass(1, 'a', 'b');
    }
    expect(silent).toEqual([]);
  });

  test('that has exited is not named', () => {
    watch.remove('a');
    watch.beat('a');
    pass(100, 'b');
    expect(silent).toEqual([]);
  });

  test('is not named if the primary itself was suspended, but counts again from then on', () => {
    nowMs += 3_600_000;
    watch.look();
    expect(silent).toEqual([]);
    pass(10, 'b');
    expect(silent).toEqual([]);
    pass(1, 'b');
    expect(silent).toEqual(['a 11000']);
  });
});

test('a starting worker has a minute for its first heartbeat', () => {
  watch.add('slow');
  pass(60);
  expect(silent).toEqual([]);
  pass(1);
  expect(silent).toEqual(['slow 61000']);
});
