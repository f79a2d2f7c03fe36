// How `npm run faults` runs the rows: one file at a time, and in the long variant those with it that `npm test` leaves out.
import process from 'node:process';
import { defineConfig } from 'vitest/config';
import { COMMON } from '../vitest.config.ts';

const long = process.env['LINGATE_FAULTS'] === 'long';

export default defineConfig({
  test: {
    ...COMMON,
    include: ['test/faults/**/*.test.ts', ...(long ? ['test/faults/**/*.long.ts'] : [])],
    // The rows are measured, not only passed.
    fileParallelism: false,
  },
});
