// vitest for the evidence: attacks, faults and loads on whole gateways.
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { COMMON, EVIDENCE, startsFor, WORKERS } from '../vitest.config.ts';
import { longFilesFirst } from '../support/long-files-first.ts';
import { temporaryFilesInMemory } from '../support/memory-folder.ts';
import { suiteLimit } from '../support/suite-limit.ts';

/** Judged by rates and latencies, which need an idle machine, and the soak: `npm run task -- test:load`. */
const TIMED = ['overload', 'slow-clients', 'loop-delay', 'soak'].map((name) => `test/evidence/load/${name}.test.ts`);

/**
 * What one team or a caller without a key costs the others, memory, and every page under axe in every form: `npm run task --
 * test:long`. With these, a run of everything required of a submission would take too long.
 */
export const LONG = [
  'browser/console-axe',
  'browser/docs-pages',
  'faults/key-bursts',
  'faults/window-kills',
  'forward/long-uploads',
  'forward/memory',
  'isolation/answer-cost',
  'isolation/isolation',
  'isolation/parser-cost',
  'isolation/throttled-bodies',
  'isolation/unknown-callers',
  'telemetry/sampling-cost',
].map((name) => `test/evidence/${name}.test.ts`);

export default defineConfig({
  plugins: [suiteLimit(14)],
  test: {
    ...COMMON,
    // One less than there could be: some of it counts what happens within a time.
    maxWorkers: WORKERS - 1,
    env: {
      ...startsFor('test:evidence'),
      ...temporaryFilesInMemory(),
      LINGATE_PROPERTY_RUNS: process.env['LINGATE_PROPERTY_RUNS'] ?? '150',
    },
    // The smallest of all, so it would start last, and for half a minute nothing else would run. Only this one: long files that start
    // together starve each other.
    sequence: { sequencer: longFilesFirst(['test/evidence/documents/books.test.ts']) },
    // `npm test` has fewer random histories of the stores.
    include: [...EVIDENCE.map((folder) => `test/evidence/${folder}/**/*.test.ts`), 'test/unit/stores/equality.test.ts'],
    testTimeout: 180_000,
    exclude: [...TIMED, ...LONG],
  },
});
