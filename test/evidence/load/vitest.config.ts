// How vitest runs the load tests, those judged by rates and latencies included: alone, on a machine with nothing else to do.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { suiteLimit } from '../../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: { ...COMMON, env: startsFor('test:load'), maxWorkers: 1, include: ['test/evidence/load/**/*.test.ts'], testTimeout: 60_000 },
});
