// When what is asked of the ledger is sent: at once while no call is out, together while one is, and never late for it.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SETTLE_LINGER_MS } from '../../../../src/domain/reservation.ts';
import { CallPacing } from '../../../../src/stores/redis/call-pacing.ts';

const OPERATIONS_MAX = 5;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Each call is out until the test ends it. */
function paced(oneAtATime = true) {
  let waiting = 0;
  const calls: number[] = [];
  const pacing: CallPacing = new CallPacing({
    operationsMax: OPERATIONS_MAX,
    oneAtATime,
    send: () => {
      if (waiting === 0) return;
      calls.push(waiting);
      waiting = 0;
      pacing.called();
    },
  });
  const admit = () => {
    waiting++;
    pacing.admissionWaits();
  };
  const resolve = () => {
    waiting++;
    pacing.resolutionWaits();
  };
  return { calls, pacing, admit, resolve };
}

const turnEnds = () => void vi.advanceTimersByTime(0);

test('while no call is out, all of a turn goes at its end', () => {
  const { calls, admit, resolve } = paced();
  resolve();
  admit();
  admit();
  expect(calls).toEqual([]);
  turnEnds();
  expect(calls).toEqual([3]);
});

test('while a call is out, what is asked for goes together at the end of the turn that brings the reply', () => {
  const { calls, pacing, admit, resolve } = paced();
  admit();
  turnEnds();
  admit();
  turnEnds();
  resolve();
  admit();
  turnEnds();
  expect(calls).toEqual([1]);
  pacing.ended();
  resolve();
  expect(calls).toEqual([1]);
  turnEnds();
  expect(calls).toEqual([1, 4]);
});

test('of several that are out the last reply counts', () => {
  const { calls, pacing, admit } = paced();
  admit();
  turnEnds();
  pacing.called();
  admit();
  turnEnds();
  pacing.ended();
  turnEnds();
  expect(calls).toEqual([1]);
  pacing.ended();
  turnEnds();
  expect(calls).toEqual([1, 1]);
});

test('a call whose reply does not come keeps others from going for a millisecond, whatever else is asked for', () => {
  const { calls, admit } = paced();
  admit();
  turnEnds();
  for (let call = 2; call <= 4; call++) {
    admit();
    turnEnds();
    admit();
    expect(calls).toHaveLength(call - 1);
    vi.advanceTimersByTime(1);
    expect(calls).toHaveLength(call);
  }
});

test('what fills a call waits for no reply', () => {
  const { calls, admit, resolve } = paced();
  admit();
  turnEnds();
  admit();
  turnEnds();
  for (let more = 2; more < OPERATIONS_MAX; more++) admit();
  expect(calls).toEqual([1]);
  resolve();
  expect(calls).toEqual([1, OPERATIONS_MAX]);
  for (let i = 0; i <= OPERATIONS_MAX; i++) admit();
  turnEnds();
  expect(calls).toEqual([1, OPERATIONS_MAX, OPERATIONS_MAX + 1]);
});

test('a resolution goes with the next admission, or by itself when it has lingered, whether or not a call is out', () => {
  const { calls, pacing, admit, resolve } = paced();
  resolve();
  vi.advanceTimersByTime(SETTLE_LINGER_MS - 1);
  resolve();
  expect(calls).toEqual([]);
  vi.advanceTimersByTime(1);
  expect(calls).toEqual([2]);
  resolve();
  vi.advanceTimersByTime(SETTLE_LINGER_MS);
  expect(calls).toEqual([2, 1]);
  resolve();
  admit();
  turnEnds();
  pacing.ended();
  pacing.ended();
  turnEnds();
  expect(calls).toEqual([2, 1, 2]);
});

test('nothing waits for a reply where calls do not go one at a time', () => {
  const { calls, admit } = paced(false);
  for (let call = 1; call <= 3; call++) {
    admit();
    turnEnds();
    expect(calls).toHaveLength(call);
  }
});

test('what is to be sent now is, once', () => {
  const { calls, pacing, admit, resolve } = paced();
  admit();
  turnEnds();
  admit();
  turnEnds();
  resolve();
  pacing.sendNow();
  expect(calls).toEqual([1, 2]);
  pacing.ended();
  pacing.ended();
  vi.runAllTimers();
  expect(calls).toEqual([1, 2]);
});
