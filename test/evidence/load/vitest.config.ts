// How vitest runs the load tests, those judged by rates and latencies included: alone, on a machine with nothing else to do.
import { defineConfig } from 'vitest/config';
import { COMMON } from '../../vitest.config.ts';

export default defineConfig({ test: { ...COMMON, maxWorkers: 1, include: ['test/evidence/load/**/*.test.ts'], testTimeout: 60_000 } });
