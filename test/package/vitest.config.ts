// vitest for the package as users get it: packed, installed, started, extended. This takes a minute, so it is not part of `npm test`.
import { defineConfig } from 'vitest/config';
import { COMMON } from '../vitest.config.ts';
import { suiteLimit } from '../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: {
    ...COMMON,
    globalSetup: ['test/package/pack-once.ts'],
    include: ['test/package/**/*.test.ts'],
    testTimeout: 180_000,
    hookTimeout: 300_000,
  },
});
