// vitest for the evidence that takes too long for every submission.
import { defineConfig } from 'vitest/config';
import { suiteLimit } from '../../support/suite-limit.ts';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { LONG } from '../vitest.config.ts';

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: { ...COMMON, env: startsFor('test:long'), include: LONG, testTimeout: 180_000 },
});
