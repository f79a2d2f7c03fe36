// vitest for what takes too long for every submission, and for all that is drawn at random, with another seed in every run.
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { DRAWS_VARIABLE, SEED_VARIABLE } from '../support/seed.ts';
import { suiteLimit } from '../support/suite-limit.ts';
import { COMMON, startsFor } from '../vitest.config.ts';

const DRAWS = /^import .* from '(?:fast-check|.*\/seed(?:ed)?\.ts)';$/m;

const drawn = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .map((name) => join('test', name))
  .filter((path) => path.endsWith('.test.ts') && DRAWS.test(readFileSync(path, 'utf8')));

const seed = process.env[SEED_VARIABLE] ?? String(randomInt(2 ** 31));
process.stdout.write(`drawn at random: ${SEED_VARIABLE}=${seed} repeats it\n`);

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: {
    ...COMMON,
    env: { ...startsFor('test:long'), [SEED_VARIABLE]: seed, [DRAWS_VARIABLE]: '10' },
    include: ['test/long/**/*.test.ts', ...drawn],
    testTimeout: 180_000,
  },
});
