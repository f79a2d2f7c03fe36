// How vitest runs one test file for the planted bugs: any file of the project, evidence included.
import { defineConfig } from 'vitest/config';
import { COMMON, startsFor } from '../../vitest.config.ts';

export default defineConfig({ test: { ...COMMON, env: startsFor('test:power'), include: ['test/**/*.test.ts'] } });
