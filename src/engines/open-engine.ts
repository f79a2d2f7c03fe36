// Opens the configured engines: each is a balancer over its replicas, with batching in front if configured.
import type { Cancellation } from '../core/exchange.ts';
import type { AskedWork, Engine, EngineCapabilities, EngineWork, FileEngines, TakesGlossary } from '../ports/engine.ts';
import { openBalancer } from './balancer.ts';
import type { AttemptwiseEngine, BalancerOptions, ReplicatedEngine } from './balancer.ts';
import type { BatchLimits } from './batch.ts';
import { BatchingEngine } from './batching-engine.ts';

export interface EngineOptions extends BalancerOptions {
  /** Without it, every request is a separate call. */
  readonly batch?: BatchLimits | undefined;
  /** Called for every call that several requests share. */
  readonly onBatch?: (requests: number) => void;
}

export interface NamedEngineOptions extends EngineOptions {
  readonly name: string;
  readonly can: EngineCapabilities;
}

/** Throws one clear line if a URL is invalid. Connects to nothing before the first call. */
export function openEngine(options: EngineOptions): ReplicatedEngine {
  return batched(openBalancer(options), options);
}

function batched(balancer: AttemptwiseEngine, { batch, onBatch }: EngineOptions): ReplicatedEngine {
  return batch === undefined ? balancer : new BatchingEngine(balancer, batch, onBatch);
}

export interface OpenEngines {
  readonly byName: ReadonlyMap<string, ReplicatedEngine>;
  /** All engines as one: work names the eligible ones. A second attempt goes to the next one named. */
  readonly engine: Engine;
  readonly takesGlossary: TakesGlossary;
  readonly files: FileEngines;
}

/** Like `openEngine`, for at least one engine. A single engine is used directly. */
export function openEngines(all: readonly NamedEngineOptions[]): OpenEngines {
  const balancers = new Map<string, AttemptwiseEngine>();
  const next = ({ engines }: EngineWork): AttemptwiseEngine | undefined => {
    const name = engines?.[1];
    return name === undefined ? undefined : balancers.get(name);
  };
  const byName = new Map(
    all.map((options) => {
      const several = { next, fit: options.can.formality ? undefined : withoutFormality };
      const balancer = openBalancer(all.length === 1 ? options : { ...options, ...several });
      balancers.set(options.name, balancer);
      return [options.name, batched(balancer, options)] as const;
    }),
  );
  const [first] = byName.values();
  const keeping = new Map(all.map(({ name, protocol }) => [name, protocol.keptGlossaries]));
  const takesGlossary: TakesGlossary = (name, glossary, work) => keeping.get(name)?.takes(glossary, work) ?? true;
  const engine = {
    translate: (asked: AskedWork, cancellation: Cancellation) =>
      (byName.get(asked.engines?.[0] ?? '') ?? first!).translate(asked, cancellation),
    cannotDetect: (name: string) => balancers.get(name)?.cannotDetect() === true,
    isFailing: (name: string) => balancers.get(name)?.failing === true,
    close: async () => void (await Promise.all([...byName.values()].map((one) => one.close()))),
  };
  const formats = new Map(all.map(({ name, protocol, options }) => [name, protocol.files?.formats(options) ?? []]));
  const files: FileEngines = {
    formatsOf: (name) => formats.get(name) ?? [],
    translate: (name, work, attempt) => byName.get(name)!.translateFile(work, attempt),
  };
  return { byName, engine: byName.size === 1 ? first! : engine, takesGlossary, files };
}

/** For an engine without formality: removes a `prefer_` form that another engine of the request supports. */
function withoutFormality(work: EngineWork): EngineWork {
  if (work.options.formality === undefined) return work;
  const { requestId, teamId, text, options, traceparent, attemptMs, detectionOnly } = work;
  return { requestId, teamId, text, options: { ...options, formality: undefined }, traceparent, attemptMs, detectionOnly };
}
