// The log entry of a translation that succeeded, for tests to vary.
import type { AccessEntry } from '../../src/ports/access-entry.ts';

export const ACCESS_ENTRY: AccessEntry = {
  requestId: '01M0000000000000000000000R',
  route: 'POST /v1/translate',
  status: 200,
  code: 'ok',
  teamId: 'T',
  keyId: 'K',
  characters: 5,
  attempts: 1,
  engine: 'default',
  client: undefined,
  failures: undefined,
  parameter: undefined,
  limitOf: undefined,
  durationMs: 1,
  storeMs: 0,
  engineMs: 0,
};
