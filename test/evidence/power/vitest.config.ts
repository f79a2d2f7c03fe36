// How vitest runs one test file for the planted bugs: any file of the project, evidence included.
import { defineConfig } from 'vitest/config';
import { COMMON } from '../../vitest.config.ts';

export default defineConfig({ test: { ...COMMON, include: ['test/**/*.test.ts'] } });
