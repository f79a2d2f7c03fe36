// vitest for wrong ports and planted bugs, which runs one test file.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';
import { temporaryFilesInMemory } from '../../support/memory-folder.ts';
import { suiteLimit } from '../../support/suite-limit.ts';

export default defineConfig({
  plugins: [suiteLimit(4)],
  test: {
    ...COMMON,
    env: { ...startsFor('test:power'), ...temporaryFilesInMemory() },
    include: ['test/**/*.test.ts'],
  },
});
