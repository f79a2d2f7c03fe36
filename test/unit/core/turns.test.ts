// Long work shares the event loop: one piece per turn for all jobs together, at the receiver's pace.
import { expect, test } from 'vitest';
import { nextTurn, pacedReply } from '../../../src/core/turns.ts';

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

test('an answer is made one piece per turn, and no faster than it is read', async () => {
  const reply = pacedReply('text/plain', words('1', '', '2', '3'), 3);
  expect(reply.bytes).toBe(3);
  const got: string[] = [];
  reply.body.once('data', () => reply.body.pause());
  reply.body.on('data', (bytes: Uint8Array) => void got.push(Buffer.from(bytes).toString()));
  expect(got).toEqual([]);
  await new Promise((resolve) => void reply.body.once('pause', resolve));
  for (let i = 0; i < 5; i++) await turn();
  expect(got).toEqual(['1']);
  reply.body.resume();
  await new Promise((resolve) => void reply.body.once('end', resolve));
  expect(got).toEqual(['1', '2', '3']);
});

test('nothing more is made for a reader that has left', async () => {
  let made = 0;
  const { body } = pacedReply(
    'text/plain',
    (function* () {
      for (;;) {
        made++;
        yield Buffer.from('x');
      }
    })(),
  );
  body.once('data', () => body.destroy());
  await new Promise((resolve) => void body.once('close', resolve));
  const before = made;
  for (let i = 0; i < 5; i++) await turn();
  expect(made).toBe(before);
  expect(made).toBeLessThan(4);
});

test('a piece that fails breaks only its own answer', async () => {
  const { body } = pacedReply(
    'text/plain',
    (function* () {
      yield Buffer.from('x');
      throw new Error('what is in the store is no JSON');
    })(),
  );
  body.resume();
  await expect(new Promise((_resolve, reject) => void body.once('error', reject))).rejects.toThrow('no JSON');
});
