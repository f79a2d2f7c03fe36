// A log that writes nothing, for tests that do not read it.
import type { Log } from '../../src/ports/log.ts';

export const SILENT: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
