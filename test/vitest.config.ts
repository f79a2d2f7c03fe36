// vitest's configuration for `npm test`: what is quick. A test's folder says which suite it is in.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { Command } from './support/programs.ts';
import { COMPILE_CACHE, COMPILE_CACHE_VARIABLE } from './support/compile-cache.ts';
import { longFilesFirst } from './support/long-files-first.ts';
import { temporaryFilesInMemory } from './support/memory-folder.ts';
import { COMMAND_VARIABLE } from './support/start-program.ts';
import { suiteLimit } from './support/suite-limit.ts';

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));

/**
 * Only programs that the table lists for this npm script may be started. Every worker and every program of ours loads the
 * same thousand modules, so the code that V8 compiled is cached for the next.
 */
export const startsFor = (command: Command): Record<string, string> => ({
  [COMMAND_VARIABLE]: command,
  [COMPILE_CACHE_VARIABLE]: COMPILE_CACHE,
});

/** Of suites that judge no times: a file waits for timers, programs and servers for half of its time, so four fill two cores. */
export const WORKERS = 4;

/** Small files that last long: thousands of cases, or seconds of work in each. */
const LONG_FILES = [
  'test/unit/stores/contract.test.ts',
  'test/unit/stores/equality.test.ts',
  'test/unit/documents/round-trips.test.ts',
  'test/unit/engines/protocols/contract.test.ts',
];

/** Common to all test configurations. */
export const COMMON = {
  // Two cores: more files at once would distort what is measured.
  maxWorkers: 2,
  // As with the plugin loader's hooks in a real process: `lingate` is the code under test.
  alias: [
    { find: /^lingate$/, replacement: SOURCES + 'index.ts' },
    { find: /^lingate\/(.+)$/, replacement: SOURCES + '$1.ts' },
  ],
  setupFiles: [fileURLToPath(new URL('./support/seeded-properties.ts', import.meta.url))],
  // The warning about node:sqlite, which the product's own entry suppresses.
  execArgv: ['--disable-warning=ExperimentalWarning'],
  // Tests wait for conditions and never sleep. A busy machine may be ten times as slow as an idle one, and these limits only
  // end what hangs.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 60_000, interval: 20 } },
  reporters: ['default'],
};

export default defineConfig({
  plugins: [suiteLimit(15)],
  test: {
    ...COMMON,
    maxWorkers: WORKERS,
    env: { ...startsFor('test'), ...temporaryFilesInMemory() },
    // Files share the workers: loading imports again for each file would take a sixth of the total time.
    isolate: false,
    sequence: { sequencer: longFilesFirst(LONG_FILES) },
    include: ['test/**/*.test.ts'],
    exclude: ['evidence', 'load', 'long', 'package'].map((suite) => `test/${suite}/**`),
  },
});
