// How vitest runs the project's tests: what `npm test` runs in minutes.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { Command } from './support/programs.ts';
import { COMPILE_CACHE, COMPILE_CACHE_VARIABLE } from './support/compile-cache.ts';
import { COMMAND_VARIABLE } from './support/start-program.ts';
import { suiteLimit } from './support/suite-limit.ts';

/** Attacks, faults and loads: `npm run test:evidence`, by the configuration beside this one. */
export const EVIDENCE = [
  'alerts',
  'browser',
  'drain',
  'systemd',
  'faults',
  'forward',
  'http-table',
  'idle',
  'input',
  'isolation',
  'load',
  'security',
  'simulation',
];

const SOURCES = fileURLToPath(new URL('../src/', import.meta.url));

/**
 * Only programs that the table lists for this npm script may be started; every worker and every program of ours loads the
 * same thousand modules, and what V8 made of them is kept for the next.
 */
export const startsFor = (command: Command): Record<string, string> => ({
  [COMMAND_VARIABLE]: command,
  [COMPILE_CACHE_VARIABLE]: COMPILE_CACHE,
});

/** What all have in common. */
export const COMMON = {
  // Two cores: more files at once would only make servers wait for each other.
  maxWorkers: 2,
  // As the hooks of the plugin loader have it in a process of its own: `lingate` is the code under test.
  alias: [
    { find: /^lingate$/, replacement: SOURCES + 'index.ts' },
    { find: /^lingate\/(.+)$/, replacement: SOURCES + '$1.ts' },
  ],
  // The one warning about node:sqlite; the product's own entry silences it by itself.
  execArgv: ['--disable-warning=ExperimentalWarning'],
  testTimeout: 20_000,
  hookTimeout: 60_000,
  // Conditions are waited for, never slept for; a busy machine may take its time.
  expect: { poll: { timeout: 10_000, interval: 20 } },
  reporters: ['default'],
};

export default defineConfig({
  plugins: [suiteLimit(15)],
  test: {
    ...COMMON,
    env: startsFor('test'),
    // Files share two workers: what they import takes a sixth of all the time when each loads it anew.
    isolate: false,
    include: ['test/**/*.test.ts'],
    exclude: ['test/package/**', ...EVIDENCE.map((folder) => `test/evidence/${folder}/**`)],
  },
});
