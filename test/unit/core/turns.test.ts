// Long work shares the event loop: one piece per turn for all jobs together, at the receiver's pace.
import { expect, test } from 'vitest';
import type { ByteReceiver } from '../../../src/core/byte-stream.ts';
import { nextTurn, PacedBytes } from '../../../src/core/turns.ts';

/** Records what happened in which turn; a turn of the event loop ends with its check phase. */
function receiver() {
  const got: string[] = [];
  const ended = Promise.withResolvers<void>();
  const calls: ByteReceiver = {
    piece: (bytes) => void got.push(Buffer.from(bytes).toString()),
    end: () => (got.push('end'), ended.resolve()),
    fail: () => (got.push('fail'), ended.resolve()),
  };
  return { got, calls, ended: ended.promise };
}

function* words(...texts: string[]): Generator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

function turn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

test('of many jobs one piece is done per turn, in the order of their requests', async () => {
  const done: string[] = [];
  const job = async (name: string): Promise<void> => {
    for (let i = 0; i < 3; i++) {
      await nextTurn();
      done.push(name);
    }
  };
  const jobs = Promise.all(['a', 'b', 'c'].map(job));
  const perTurn: number[] = [];
  while (done.length < 9) {
    const before = done.length;
    await turn();
    perTurn.push(done.length - before);
  }
  await jobs;
  expect(Math.max(...perTurn)).toBe(1);
  expect(done).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c']);
});

test('bytes are sent one piece per turn, and none while the receiver pauses', async () => {
  const source = new PacedBytes(words('1', '', '2', '3'), 3);
  expect(source.bytes).toBe(3);
  const { got, calls, ended } = receiver();
  source.open(calls);
  expect(got).toEqual([]);
  await turn();
  expect(got).toEqual(['1']);
  source.pause();
  for (let i = 0; i < 5; i++) await turn();
  expect(got).toEqual(['1']);
  source.resume();
  await ended;
  expect(got).toEqual(['1', '2', '3', 'end']);
});

test('nothing more is made for a receiver that has left', async () => {
  let made = 0;
  const source = new PacedBytes(
    (function* () {
      for (;;) {
        made++;
        yield Buffer.from('x');
      }
    })(),
  );
  const { got, calls } = receiver();
  source.open(calls);
  await turn();
  source.cancel();
  for (let i = 0; i < 5; i++) await turn();
  expect([made, got]).toEqual([1, ['x']]);
});

test('a piece that fails breaks only its own answer', async () => {
  const source = new PacedBytes(
    (function* () {
      yield Buffer.from('x');
      throw new Error('what is in the store is no JSON');
    })(),
  );
  const { got, calls, ended } = receiver();
  source.open(calls);
  await ended;
  expect(got).toEqual(['x', 'fail']);
});
