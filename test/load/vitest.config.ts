// vitest for the load tests, including those judged by rates and latencies: sequential, on an idle machine.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../vitest.config.ts';
import { suiteLimit } from '../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: { ...COMMON, env: startsFor('test:load'), maxWorkers: 1, include: ['test/load/**/*.test.ts'], testTimeout: 180_000 },
});
