// The engine as the service sees it: replicas in turn, two attempts, the second elsewhere and over a fresh connection.
import { performance } from 'node:perf_hooks';
import type { Cancellation } from '../core/exchange.ts';
import type {
  AskedWork,
  Attempt,
  AttemptFailure,
  Engine,
  EngineProtocol,
  EngineResult,
  EngineTokens,
  EngineWork,
  ReplicaHealth,
  ReplicaPairs,
} from '../ports/engine.ts';
import { askPairs } from './ask-pairs.ts';
import { attemptOn } from './attempt.ts';
import type { AttemptTerms } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { readEngineUrl } from './http1/url.ts';
import { Pool } from './http1/pool.ts';
import type { ConnectionUse, PoolLimits } from './http1/pool.ts';
import { Replica } from './replica.ts';

export interface BalancerOptions extends PoolLimits {
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated; `undefined` for a protocol without. */
  readonly options?: unknown;
  /** At least one; any replica may get any request. */
  readonly urls: readonly string[];
  /** Called with what an adapter threw, which is a bug in the adapter. It may quote texts: not for a log in production. */
  readonly onAdapterError?: (error: unknown) => void;
  /** Called for each attempt with the tokens that a language model has read and written. */
  readonly onTokens?: (tokens: EngineTokens) => void;
}

/** An engine whose replicas can be changed while it works. */
export interface ReplicatedEngine extends Engine {
  /** Attempts under way on a replica that is removed may end. Throws, and changes nothing, when a URL is wrong. */
  setUrls(urls: readonly string[]): void;
  /** In the order of the configuration. */
  health(): readonly ReplicaHealth[];
  /** Asks every replica which pairs it translates, in bounded time; never rejects. `undefined` where the protocol cannot tell. */
  readonly askPairs: (() => Promise<readonly ReplicaPairs[]>) | undefined;
}

/** The two attempts one by one, for several requests that share the first of them. `done` is called once, later. */
export interface AttemptwiseEngine extends ReplicatedEngine {
  translateFor(asked: AskedWork, cancellation: Cancellation): void;
  /** `replica` is where it was made. */
  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica) => void): void;
  /** The second attempt, not on `before` where there is another replica; it gives the result. None for a caller who has left. */
  second(asked: AskedWork, cancellation: Cancellation, failure: AttemptFailure, before: Replica): void;
}

/** Of a result that took no failed attempt. */
export const NO_FAILURES: readonly AttemptFailure[] = [];

/** Throws one clear line when a URL is wrong. Connects to nothing before the first call. */
export function openBalancer(options: BalancerOptions): AttemptwiseEngine {
  return new Balancer(options);
}

class Balancer implements AttemptwiseEngine {
  readonly #options: BalancerOptions;
  readonly #terms: AttemptTerms;
  /** The terms of attempts that have less time than `timeoutMs`, by their milliseconds. */
  readonly #hasty = new Map<number, AttemptTerms>();
  readonly #nowMs: () => number;
  /** Pools of removed replicas that are still closing; `close` waits for them. */
  readonly #leaving = new Set<Pool>();
  #replicas: readonly Replica[] = [];
  #turn = 0;

  constructor(options: BalancerOptions) {
    this.#options = options;
    const { protocol, timeoutMs, onAdapterError, onTokens } = options;
    this.#terms = { protocol, options: options.options, deadlines: new Deadlines(timeoutMs), onAdapterError, onTokens };
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.setUrls(options.urls);
  }

  translate(work: EngineWork, cancellation: Cancellation): EngineResult | Promise<EngineResult> {
    if (cancellation.cancelled) return { kind: 'unavailable', failures: NO_FAILURES };
    // One promise for both attempts: this is hot.
    return new Promise((resolve) => {
      const replica = this.#next(undefined);
      this.#attempt(replica, 'reused', work, cancellation, (first) => {
        if (first.kind === 'usable') resolve({ kind: 'usable', translations: first.translations, failures: NO_FAILURES });
        else this.#second(work, cancellation, first.failure, replica, resolve);
      });
    });
  }

  translateFor(asked: AskedWork, cancellation: Cancellation): void {
    if (cancellation.cancelled) {
      queueMicrotask(() => asked.answered({ kind: 'unavailable', failures: NO_FAILURES }));
      return;
    }
    const replica = this.#next(undefined);
    this.#attempt(replica, 'reused', asked, cancellation, (first) => {
      if (first.kind === 'usable') asked.answered({ kind: 'usable', translations: first.translations, failures: NO_FAILURES });
      else this.#second(asked, cancellation, first.failure, replica, (result) => asked.answered(result));
    });
  }

  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica) => void): void {
    const replica = this.#next(undefined);
    this.#attempt(replica, 'reused', work, cancellation, (attempt) => done(attempt, replica));
  }

  second(asked: AskedWork, cancellation: Cancellation, failure: AttemptFailure, before: Replica): void {
    this.#second(asked, cancellation, failure, before, (result) => asked.answered(result));
  }

  #second(
    work: EngineWork,
    cancellation: Cancellation,
    failure: AttemptFailure,
    before: Replica,
    done: (result: EngineResult) => void,
  ): void {
    if (cancellation.cancelled) {
      done({ kind: 'unavailable', failures: [failure] });
      return;
    }
    // After a restart of the engine every kept connection breaks when it is used: the second attempt must not take another of them.
    this.#attempt(this.#next(before), 'fresh', work, cancellation, (second) => {
      if (second.kind === 'usable') done({ kind: 'usable', translations: second.translations, failures: [failure] });
      else done({ kind: 'unavailable', failures: [failure, second.failure] });
    });
  }

  setUrls(urls: readonly string[]): void {
    const wanted = new Map(urls.map(readEngineUrl).map((url) => [url.href, url]));
    if (wanted.size === 0) throw new Error('engine.urls: must name at least one engine URL');
    const before = this.#replicas;
    this.#replicas = [...wanted].map(
      ([href, url]) => before.find((replica) => replica.href === href) ?? new Replica(href, new Pool(url, this.#options)),
    );
    for (const replica of before) {
      if (!wanted.has(replica.href)) void this.#leave(replica.wire);
    }
  }

  health(): readonly ReplicaHealth[] {
    const nowMs = this.#nowMs();
    return this.#replicas.map((replica) => replica.health(nowMs));
  }

  get askPairs(): (() => Promise<readonly ReplicaPairs[]>) | undefined {
    const { protocol, options, timeoutMs } = this.#options;
    if (protocol.pairs === undefined) return undefined;
    return () =>
      Promise.all(this.#replicas.map(async ({ href, wire }) => ({ url: href, pairs: await askPairs(wire, protocol, options, timeoutMs) })));
  }

  async close(): Promise<void> {
    const wires = [...this.#leaving, ...this.#replicas.map((replica) => replica.wire)];
    await Promise.all(wires.map((wire) => wire.destroy()));
    for (const { deadlines } of [this.#terms, ...this.#hasty.values()]) deadlines.close();
  }

  #attempt(
    replica: Replica,
    connection: ConnectionUse,
    work: EngineWork,
    cancellation: Cancellation,
    done: (attempt: Attempt) => void,
  ): void {
    const terms = work.attemptMs === undefined ? this.#terms : this.#hastier(work.attemptMs);
    attemptOn(replica.wire, connection, work, cancellation, terms, (attempt) => {
      replica.remember(attempt, this.#nowMs());
      done(attempt);
    });
  }

  /** The same terms with a shorter deadline. Kept in a map, because the values are few: they come from configurations. */
  #hastier(attemptMs: number): AttemptTerms {
    const { timeoutMs } = this.#options;
    if (attemptMs >= timeoutMs) return this.#terms;
    let terms = this.#hasty.get(attemptMs);
    if (terms === undefined) this.#hasty.set(attemptMs, (terms = { ...this.#terms, deadlines: new Deadlines(attemptMs) }));
    return terms;
  }

  /** The next in turn that is not `previous`; one that could not be connected to a moment ago only when no other is left. */
  #next(previous: Replica | undefined): Replica {
    const replicas = this.#replicas;
    if (replicas.length === 1) return replicas[0]!;
    const nowMs = this.#nowMs();
    let last = previous ?? replicas[this.#turn % replicas.length]!;
    for (let i = 0; i < replicas.length; i++) {
      const index = (this.#turn + i) % replicas.length;
      const replica = replicas[index]!;
      if (replica === previous) continue;
      if (replica.lastUntilMs <= nowMs) {
        this.#turn = index + 1;
        return replica;
      }
      if (last === previous) last = replica;
    }
    this.#turn++;
    return last;
  }

  async #leave(wire: Pool): Promise<void> {
    this.#leaving.add(wire);
    await wire.close().catch(() => undefined);
    this.#leaving.delete(wire);
  }
}
