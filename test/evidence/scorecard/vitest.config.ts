// vitest for the scorecard's tests: sequential, including the long ones that no suite includes, with time for their size.
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
