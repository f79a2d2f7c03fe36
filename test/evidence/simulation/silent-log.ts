// A log that nobody reads.
import type { Log } from '../../../src/ports/log.ts';

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
