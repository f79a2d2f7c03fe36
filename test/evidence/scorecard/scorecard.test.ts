// The scorecard leaves nothing out: every row has commands, whose files exist.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { rowsOf } from './rows.ts';
import { SIZES } from './size.ts';

test.each(SIZES)('of size %s, the files of every row exist', (size) => {
  const files = rowsOf(size).flatMap(({ commands }) => commands.map((one) => ('tests' in one ? one.tests : one.program[0]!)));
  expect(files.filter((file) => !existsSync(fileURLToPath(new URL(`../../../${file}`, import.meta.url))))).toEqual([]);
  expect(files.length).toBeGreaterThanOrEqual(25);
});
