// Files on their way: few at a time in a process, and not all of them of one team.
import { expect, test } from 'vitest';
import { LimitedTransfers } from '../../../src/runtime/document-transfers.ts';

test('a team has at most eight, all teams at most sixteen, and each that ends makes room', () => {
  const transfers = new LimitedTransfers();
  const begun = (teamId: string, count: number): number =>
    Array.from({ length: count }, () => transfers.begin(teamId)).filter(Boolean).length;
  expect(begun('a', 20)).toBe(8);
  expect(begun('b', 5)).toBe(5);
  expect(begun('c', 20)).toBe(3);
  expect(begun('b', 1)).toBe(0);
  transfers.end('a');
  expect(begun('c', 2)).toBe(1);
  for (const teamId of ['a', 'b', 'c']) for (let left = { a: 7, b: 5, c: 4 }[teamId]!; left > 0; left--) transfers.end(teamId);
  expect(begun('d', 20)).toBe(8);
});
