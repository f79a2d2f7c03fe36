// How vitest runs the tests of the package as strangers get it: packed, installed, started, extended. They take a minute, so `npm test` leaves them out.
import { defineConfig } from 'vitest/config';
import { COMMON } from '../vitest.config.ts';
import { suiteLimit } from '../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: {
    ...COMMON,
    globalSetup: ['test/package/pack-once.ts'],
    include: ['test/package/**/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 300_000,
  },
});
