// The log entry of a translation that succeeded, for tests to vary.
import { NO_STATS } from './door/terms.ts';
import type { AccessEntry } from '../../src/ports/access-entry.ts';

const { canSpare: _canSpare, works: _works, ...NO_FIGURES } = NO_STATS;

export const ACCESS_ENTRY: AccessEntry = {
  ...NO_FIGURES,
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
  parameter: undefined,
  durationMs: 1,
};
