// How vitest runs the project's tests.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Two cores: more files at once would only make servers wait for each other.
    maxWorkers: 2,
    // The one warning about node:sqlite; the product's own entry silences it by itself.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Conditions are waited for, never slept for; a busy machine may take its time.
    expect: { poll: { timeout: 10_000, interval: 20 } },
    reporters: ['default'],
  },
});
