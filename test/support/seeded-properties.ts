// Loaded by vitest before every test file: properties without a seed of their own draw from the seed of the run.
import fc from 'fast-check';
import { SEED } from './seed.ts';

fc.configureGlobal({ seed: SEED });
