// Checks one replica with a single attempt, outside any rotation, and reports everything known about the result.
import { performance } from 'node:perf_hooks';
import type { Attempt, EngineProtocol, EngineWork } from '../ports/engine.ts';
import { attemptOn, NEVER_LEAVES } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { Pool } from './http1/pool.ts';
import type { PoolLimits } from './http1/pool.ts';
import { replicaAddress } from './http1/url.ts';

export interface CheckTerms extends PoolLimits {
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated. */
  readonly options: unknown;
}

export interface CheckedReplica {
  readonly attempt: Attempt;
  readonly tookMs: number;
  /** Whether every answer echoed the id of its request. */
  readonly echoesId: boolean;
}

/** Never rejects. `url` must be valid. Closes the connection afterwards. */
export function checkReplica(url: string, work: EngineWork, { protocol, options, ...limits }: CheckTerms): Promise<CheckedReplica> {
  const pool = new Pool(replicaAddress(url, protocol.pathPrefix), limits);
  const deadlines = new Deadlines(limits.timeoutMs);
  const startedAtMs = performance.now();
  return new Promise((resolve) => {
    attemptOn(pool, 'reused', work, NEVER_LEAVES, { protocol, options, deadlines }, (attempt, echoesId) => {
      const tookMs = performance.now() - startedAtMs;
      deadlines.close();
      void pool.destroy();
      resolve({ attempt, tookMs, echoesId });
    });
  });
}
