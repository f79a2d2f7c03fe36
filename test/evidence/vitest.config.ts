// How vitest runs the evidence: attacks, faults and loads against whole gateways.
import { defineConfig } from 'vitest/config';
import { COMMON, EVIDENCE, startsFor } from '../vitest.config.ts';
import { suiteLimit } from '../support/suite-limit.ts';

/** Judged by rates and latencies, so for a machine that has nothing else to do: `npm run task -- test:load`. */
const TIMED = ['test/evidence/load/overload.test.ts', 'test/evidence/load/slow-clients.test.ts', 'test/evidence/load/loop-delay.test.ts'];

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: {
    ...COMMON,
    env: { ...startsFor('test:evidence'), LINGATE_PROPERTY_RUNS: '150' },
    // `npm test` has fewer random histories of the stores.
    include: [...EVIDENCE.map((folder) => `test/evidence/${folder}/**/*.test.ts`), 'test/unit/stores/equality.test.ts'],
    testTimeout: 60_000,
    exclude: TIMED,
  },
});
