// The table of planted bugs matches the sources: what a bug replaces is once in its declaration, and its tests exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Anchors } from './anchors.ts';
import { MUTATIONS } from './mutations.ts';

const ROOT = join(import.meta.dirname, '../../..');

test('every planted bug still matches the sources', () => {
  const anchors = new Anchors(ROOT);
  expect(MUTATIONS.flatMap((mutation) => anchors.faultsOf(mutation))).toEqual([]);
});

test('every test that must catch one exists', () => {
  const files = new Set(MUTATIONS.flatMap(({ caughtBy }) => caughtBy.map(({ file }) => file)));
  expect([...files].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
