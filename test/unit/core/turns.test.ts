// Long work shares the event loop: one piece per turn for all jobs together, at the receiver's pace.
import { expect, test } from 'vitest';
import { nextTurn } from '../../../src/core/turns.ts';

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
