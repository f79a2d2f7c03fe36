// vitest for the planted bugs, which runs one test file: any file of the project, evidence included.
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { temporaryFilesInMemory } from '../../support/memory-folder.ts';
import { suiteLimit } from '../../support/suite-limit.ts';
import { CONTROL_VARIABLE } from './test-runner.ts';

/**
 * Shorter than elsewhere: many bugs make a test hang, and are caught only at its limit. Without a bug nothing may fail by
 * being slow.
 */
const IMPATIENT = { testTimeout: 20_000, expect: { poll: { timeout: 10_000, interval: 20 } } };

export default defineConfig({
  plugins: [suiteLimit(4)],
  test: {
    ...COMMON,
    ...(process.env[CONTROL_VARIABLE] === undefined ? IMPATIENT : {}),
    env: { ...startsFor('test:power'), ...temporaryFilesInMemory() },
    include: ['test/**/*.test.ts'],
  },
});
