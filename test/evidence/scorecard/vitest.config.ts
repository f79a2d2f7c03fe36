// How the scorecard runs a test file: alone, with those of the long kind that no suite includes, and with room for its size.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { suiteLimit } from '../../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(240)],
  // The rows are measured, not only passed.
  test: {
    ...COMMON,
    env: startsFor('scorecard'),
    include: ['test/**/*.test.ts', 'test/**/*.long.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
  },
});
