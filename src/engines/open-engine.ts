// Opens the engine that a configuration describes: a pool of replicas, with batches in front of it where they are wanted.
import type { BatchLimits } from './batch.ts';
import { BatchingEngine } from './batching-engine.ts';
import { openPool } from './balancer.ts';
import type { PoolOptions, ReplicatedEngine } from './balancer.ts';

export interface EngineOptions extends PoolOptions {
  /** Without it every request is a call of its own. */
  readonly batch?: BatchLimits | undefined;
  /** Told of every call that more than one request shares. */
  readonly onBatch?: (requests: number) => void;
}

/** Throws one clear line when a URL is wrong. Connects to nothing before the first call. */
export function openEngine(options: EngineOptions): ReplicatedEngine {
  const pool = openPool(options);
  return options.batch === undefined ? pool : new BatchingEngine(pool, options.batch, options.onBatch);
}
