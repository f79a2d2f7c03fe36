// A log for tests in which nobody reads it.
import type { Log } from '../../src/ports/log.ts';

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
