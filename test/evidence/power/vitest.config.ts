// vitest for the planted bugs, which runs one test file: any file of the project, evidence included.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { suiteLimit } from '../../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(4)],
  test: {
    ...COMMON,
    // Shorter than elsewhere: many bugs make a test hang, and are caught only at its limit. Nothing passes or fails by being slow:
    // a bug that is not caught in time has to be caught by an assertion, and the files pass without bugs in other runs.
    testTimeout: 20_000,
    expect: { poll: { timeout: 10_000, interval: 20 } },
    env: startsFor('test:power'),
    include: ['test/**/*.test.ts'],
  },
});
