// Opens the engine that a configuration describes: a balancer over the replicas, with batches in front of it where they are wanted.
import type { BatchLimits } from './batch.ts';
import { BatchingEngine } from './batching-engine.ts';
import { openBalancer } from './balancer.ts';
import type { BalancerOptions, ReplicatedEngine } from './balancer.ts';

export interface EngineOptions extends BalancerOptions {
  /** Without it every request is a call of its own. */
  readonly batch?: BatchLimits | undefined;
  /** Told of every call that more than one request shares. */
  readonly onBatch?: (requests: number) => void;
}

/** Throws one clear line when a URL is wrong. Connects to nothing before the first call. */
export function openEngine(options: EngineOptions): ReplicatedEngine {
  const balancer = openBalancer(options);
  return options.batch === undefined ? balancer : new BatchingEngine(balancer, options.batch, options.onBatch);
}
