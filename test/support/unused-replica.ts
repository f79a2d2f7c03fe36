// A replica of an engine that nothing has used or tried, for tests to vary.
import type { EngineReplica } from '../../src/app/process-state.ts';

export const UNUSED_REPLICA: EngineReplica = {
  engine: 'default',
  url: 'http://engine/',
  usable: 0,
  failed: 0,
  usableAgoMs: undefined,
  lastFailure: undefined,
  asideMs: undefined,
  reached: undefined,
};
