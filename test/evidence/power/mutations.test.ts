// The table of planted bugs matches the sources: the text that a bug replaces exists exactly once, and its tests exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { MUTATIONS } from './mutations.ts';
import { Workshop } from './workshop.ts';

test('every planted bug still matches the sources', () => {
  const workshop = new Workshop();
  try {
    expect(MUTATIONS.flatMap((mutation) => workshop.faultsOf(mutation))).toEqual([]);
  } finally {
    workshop.remove();
  }
});

test('every test that must catch one exists', () => {
  const root = join(import.meta.dirname, '../../..');
  const files = new Set(MUTATIONS.flatMap(({ caughtBy }) => caughtBy.map(({ file }) => file)));
  expect([...files].filter((file) => !existsSync(join(root, file)))).toEqual([]);
});
