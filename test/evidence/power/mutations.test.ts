// The table of planted bugs follows the sources: each text that a bug replaces is there, once, and so are the tests.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations.ts';
import { Workshop } from './workshop.ts';

test('every planted bug still has its place in the sources', () => {
  const workshop = new Workshop();
  try {
    expect(MUTATIONS.flatMap((mutation) => workshop.faultsOf(mutation))).toEqual([]);
  } finally {
    workshop.remove();
  }
});

test('every test that is to catch one is there', () => {
  const root = join(import.meta.dirname, '../../..');
  const files = new Set(MUTATIONS.flatMap(({ caughtBy }) => caughtBy.map(({ file }) => file)));
  expect([...files].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
