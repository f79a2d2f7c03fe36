// Opens the configured engines: each is a balancer over its replicas.
import type { Engine, EngineCapabilities, EngineWork } from '../ports/engine.ts';
import { Balancer } from './balancer.ts';
import type { EngineOptions } from './balancer.ts';

export interface NamedEngineOptions extends EngineOptions {
  readonly name: string;
  readonly can: EngineCapabilities;
}

export interface OpenEngines {
  readonly byName: ReadonlyMap<string, Balancer>;
  /** All as one: a second attempt goes to the next engine that the work names. */
  readonly engine: Engine;
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
  const of = (name = ''): Balancer => byName.get(name) ?? first!;
  const engine: Engine = {
    translate: (asked, cancellation) => of(asked.engines?.[0]).translate(asked, cancellation),
    isFailing: (name) => of(name).isFailing(),
    cannotDetect: (name) => of(name).cannotDetect(),
    takesGlossary: (name, glossary, work) => of(name).takesGlossary(glossary, work),
    formatsOf: (name) => of(name).formats(),
    translateFile: (name, work, attempt) => of(name).translateFile(work, attempt),
    close: async () => void (await Promise.all([...byName.values()].map((one) => one.close()))),
  };
  return { byName, engine };
}

/** Without formality: removes a `prefer_` form that the request's other engine supports. */
function withoutFormality(work: EngineWork): EngineWork {
  return work.options.formality === undefined ? work : { ...work, options: { ...work.options, formality: undefined } };
}
