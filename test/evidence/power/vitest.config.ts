// vitest for the planted bugs, which runs one test file: any file of the project, evidence included.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { suiteLimit } from '../../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(4)],
  test: { ...COMMON, env: startsFor('test:power'), include: ['test/**/*.test.ts'] },
});
