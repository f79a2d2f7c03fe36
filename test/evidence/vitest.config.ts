// vitest for the evidence: attacks, faults and loads on whole gateways.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor, WORKERS } from '../vitest.config.ts';
import { compiledThreads } from '../support/compiled-threads.ts';
import { longFilesFirst } from '../support/long-files-first.ts';
import { temporaryFilesInMemory } from '../support/memory-folder.ts';
import { suiteLimit } from '../support/suite-limit.ts';

export default defineConfig({
  plugins: [compiledThreads(), suiteLimit(20)],
  test: {
    ...COMMON,
    maxWorkers: WORKERS,
    env: { ...startsFor('test:evidence'), ...temporaryFilesInMemory() },
    // As in `npm test`: loading all modules again for each file took a fifth of the processor's time.
    isolate: false,
    // Small files that mostly wait: they would start last, and for half a minute nothing else would run.
    sequence: {
      sequencer: longFilesFirst(
        ['documents/reconciliation', 'faults/events', 'drain/hung-workers'].map((file) => `evidence/${file}.test.ts`),
      ),
    },
    include: ['test/evidence/**/*.test.ts'],
    // A step of its own: `npm run task -- test:power`.
    exclude: ['test/evidence/power/**'],
    testTimeout: 180_000,
  },
});
