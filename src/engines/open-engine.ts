// Opens the configured engines: each is a balancer over its replicas.
import type { Cancellation } from '../core/exchange.ts';
import type { AskedWork, Engine, EngineCapabilities, EngineWork, FileEngines, TakesGlossary } from '../ports/engine.ts';
import { Balancer } from './balancer.ts';
import type { EngineOptions } from './balancer.ts';

export interface NamedEngineOptions extends EngineOptions {
  readonly name: string;
  readonly can: EngineCapabilities;
}

export interface OpenEngines {
  readonly byName: ReadonlyMap<string, Balancer>;
  /** All as one: work names the eligible ones; a second attempt goes to the next one named. */
  readonly engine: Engine;
  readonly takesGlossary: TakesGlossary;
  readonly files: FileEngines;
}

/** At least one. Throws one clear line if a URL is invalid. */
export function openEngines(all: readonly NamedEngineOptions[]): OpenEngines {
  const next = ({ engines }: EngineWork): Balancer | undefined => byName.get(engines?.[1] ?? '');
  const byName: ReadonlyMap<string, Balancer> = new Map(
    all.map((options) => {
      const several = { next, fit: options.can.formality ? undefined : withoutFormality };
      return [options.name, new Balancer(all.length === 1 ? options : { ...options, ...several })];
    }),
  );
  const [first] = byName.values();
  const storing = new Map(all.map(({ name, protocol }) => [name, protocol.storedGlossaries]));
  const takesGlossary: TakesGlossary = (name, glossary, work) => storing.get(name)?.takes(glossary, work) ?? true;
  const engine = {
    translate: (asked: AskedWork, cancellation: Cancellation) =>
      (byName.get(asked.engines?.[0] ?? '') ?? first!).translate(asked, cancellation),
    cannotDetect: (name: string) => (byName.get(name) ?? first!).cannotDetect(),
    isFailing: (name: string) => (byName.get(name) ?? first!).isFailing(),
    close: async () => void (await Promise.all([...byName.values()].map((one) => one.close()))),
  };
  const formats = new Map(all.map(({ name, protocol, options }) => [name, protocol.files?.formats(options) ?? []]));
  const files: FileEngines = {
    formatsOf: (name) => formats.get(name) ?? [],
    translate: (name, work, attempt) => byName.get(name)!.translateFile(work, attempt),
  };
  return { byName, engine, takesGlossary, files };
}

/** Without formality: removes a `prefer_` form that the request's other engine supports. */
function withoutFormality(work: EngineWork): EngineWork {
  if (work.options.formality === undefined) return work;
  const { requestId, teamId, text, options, traceparent, attemptMs, detectionOnly } = work;
  return { requestId, teamId, text, options: { ...options, formality: undefined }, traceparent, attemptMs, detectionOnly };
}
