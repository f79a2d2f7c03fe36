// Combines requests of the same kind that arrive at the same moment into one engine call.
import type { Cancellation } from '../core/exchange.ts';
import { countCharacters } from '../domain/characters.ts';
import { keyOfOptions } from '../domain/translation-options.ts';
import type { AskedWork, EngineWork, ReplicaHealth, ReplicaTrial } from '../ports/engine.ts';
import { Batch } from './batch.ts';
import type { BatchLimits } from './batch.ts';
import type { AttemptwiseEngine, CallLoad, ReplicatedEngine } from './balancer.ts';

const COMPARED_MAX = 8;

export class BatchingEngine implements ReplicatedEngine {
  readonly #balancer: AttemptwiseEngine;
  readonly #limits: BatchLimits;
  readonly #onBatch: ((requests: number) => void) | undefined;
  /** Batches waiting for more requests, by key; never more than requests in flight. */
  readonly #open = new Map<string, Batch>();

  constructor(balancer: AttemptwiseEngine, limits: BatchLimits, onBatch?: (requests: number) => void) {
    this.#balancer = balancer;
    this.#limits = limits;
    this.#onBatch = onBatch;
  }

  translate(asked: AskedWork, cancellation: Cancellation): void {
    const characters = charactersOf(asked.text);
    const { textsMax, charactersMax } = this.#limits;
    // No other request could join it, or it is only a detection.
    if (asked.text.length >= textsMax || characters >= charactersMax || cancellation.cancelled || asked.detectionOnly === true) {
      this.#balancer.translate(asked, cancellation);
      return;
    }
    let batch = this.#find(asked);
    const key = batch?.key ?? keyOf(asked);
    batch ??= this.#open.get(key);
    if (batch !== undefined && !batch.takes(asked, characters, this.#limits)) {
      this.#send(batch);
      batch = undefined;
    }
    batch ??= this.#begin(key, asked);
    batch.join(asked, characters, cancellation);
    if (batch.texts === textsMax) this.#send(batch);
  }

  translateFile(...[work, attempt]: Parameters<ReplicatedEngine['translateFile']>): ReturnType<ReplicatedEngine['translateFile']> {
    return this.#balancer.translateFile(work, attempt);
  }

  setUrls(urls: readonly string[]): void {
    this.#balancer.setUrls(urls);
  }

  cannotDetect(): boolean {
    return this.#balancer.cannotDetect();
  }

  health(): readonly ReplicaHealth[] {
    return this.#balancer.health();
  }

  load(): CallLoad {
    return this.#balancer.load();
  }

  tryAll(): Promise<readonly ReplicaTrial[]> {
    return this.#balancer.tryAll();
  }

  get upkeep(): ReplicatedEngine['upkeep'] {
    return this.#balancer.upkeep;
  }

  get askPairs(): ReplicatedEngine['askPairs'] {
    return this.#balancer.askPairs;
  }

  async close(): Promise<void> {
    for (const batch of this.#open.values()) {
      clearTimeout(batch.timer);
      batch.dismiss();
    }
    this.#open.clear();
    await this.#balancer.close();
  }

  /** Concurrent requests mostly are of few kinds: comparing each batch is then ten times cheaper than computing a key. */
  #find(asked: AskedWork): Batch | undefined {
    if (this.#open.size > COMPARED_MAX) return undefined;
    for (const batch of this.#open.values()) if (batch.isSurelyFor(asked)) return batch;
    return undefined;
  }

  #begin(key: string, first: AskedWork): Batch {
    const batch = new Batch(key, first);
    this.#open.set(key, batch);
    if (this.#limits.waitMs > 0) batch.timer = setTimeout(this.#sendOpen, this.#limits.waitMs, batch);
    else setImmediate(this.#sendOpen, batch);
    return batch;
  }

  /** The batch may already have been sent because it was full, and another one may be waiting under its key. */
  readonly #sendOpen = (batch: Batch): void => {
    if (this.#open.get(batch.key) === batch) this.#send(batch);
  };

  #send(batch: Batch): void {
    this.#open.delete(batch.key);
    clearTimeout(batch.timer);
    batch.start(this.#balancer, this.#onBatch);
  }
}

/** Options and timeout: only requests with the same of both share a call. */
function keyOf({ options, attemptMs }: EngineWork): string {
  return keyOfOptions(options) + (attemptMs ?? '');
}

function charactersOf(text: readonly string[]): number {
  let characters = 0;
  for (const entry of text) characters += countCharacters(entry);
  return characters;
}
