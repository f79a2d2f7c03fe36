// A batching engine in front of a scripted one, with helpers for what was sent and answered.
import type { BatchLimits } from '../../../src/engines/batch.ts';
import type { EngineOptions } from '../../../src/engines/open-engine.ts';
import type { ReplicatedEngine } from '../../../src/engines/balancer.ts';
import type { EngineResult, EngineWork } from '../../../src/ports/engine.ts';
import { scriptedTranslation } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { asked, Caller, Opened, work } from './engine-work.ts';

const BATCH: BatchLimits = { textsMax: 50, charactersMax: 1000, waitMs: 0 };

export class BatchSite {
  readonly opened = new Opened();
  readonly scripted: ScriptedEngine;
  /** The number of requests in each shared call. */
  readonly shared: number[] = [];

  constructor(scripted: ScriptedEngine) {
    this.scripted = this.opened.add(scripted);
  }

  engine(
    limits: Partial<BatchLimits> = {},
    options: Partial<EngineOptions> & { readonly urls?: readonly string[] } = {},
  ): ReplicatedEngine {
    const batch = { ...BATCH, ...limits };
    return this.opened.engine(options.urls ?? [this.scripted.url], {
      batch,
      onBatch: (requests) => this.shared.push(requests),
      ...options,
    });
  }

  close(): Promise<void> {
    return this.opened.close();
  }
}

export function ask(engine: ReplicatedEngine, what: EngineWork, caller = new Caller()): Promise<EngineResult> {
  return asked(engine, what, caller);
}

/** All in one tick, each with a caller that stays. */
export function together(engine: ReplicatedEngine, works: readonly EngineWork[]): Promise<EngineResult[]> {
  return Promise.all(works.map((each) => ask(engine, each)));
}

export function textsOf(...texts: readonly string[]): EngineWork {
  return work({ text: texts });
}

/** The texts of each call to an engine, joined by spaces. */
export function callsOf(engine: ScriptedEngine): string[] {
  return engine.requests.map(({ body }) => (JSON.parse(body) as { text: string[] }).text.join(' '));
}

/** Each caller's translations, joined by spaces. */
export function answersOf(results: readonly EngineResult[]): string[] {
  return results.map((result) => (result.kind === 'usable' ? result.translations.map(({ text }) => text).join(' ') : 'unavailable'));
}

export function translated(...texts: readonly string[]): string {
  return texts.map((text) => scriptedTranslation(text, 'DE')).join(' ');
}
