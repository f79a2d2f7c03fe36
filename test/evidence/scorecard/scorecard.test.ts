// The scorecard leaves nothing out: every row has its job, whose files exist.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { jobsOf } from './jobs.ts';
import { ROWS } from './rows.ts';
import { SIZES } from './size.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

test.each(SIZES)('of size %s, every row has one job, whose files exist', (size) => {
  const jobs = jobsOf(size);
  expect(jobs.map(({ row }) => row)).toEqual(ROWS.map(({ row }) => row));
  const files = jobs.flatMap(({ commands }) => commands.map((command) => (command.kind === 'tests' ? command.file : command.args[0]!)));
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});
