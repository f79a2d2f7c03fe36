// Tries one replica with one attempt, outside of any rotation, and says all that is known of how it ended.
import { performance } from 'node:perf_hooks';
import type { Cancellation } from '../core/exchange.ts';
import type { Attempt, EngineProtocol, EngineWork } from '../ports/engine.ts';
import { attemptOn } from './attempt.ts';
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
  /** Whether every answer repeated the id of its request. */
  readonly echoesId: boolean;
}

const NEVER_LEAVES: Cancellation = { cancelled: false, onCancel: () => undefined };

/** Never rejects. `url` is right. The connection is closed behind it. */
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
