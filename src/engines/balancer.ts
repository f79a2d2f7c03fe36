// The engine as the service sees it: replicas in turn, two attempts, the second elsewhere and over a fresh connection.
import { performance } from 'node:perf_hooks';
import type { Cancellation } from '../core/exchange.ts';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import type {
  AskedWork,
  Attempt,
  AttemptFailure,
  Engine,
  EngineProtocol,
  EngineTokens,
  EngineWork,
  ReplicaHealth,
  ReplicaPairs,
} from '../ports/engine.ts';
import { askPairs } from './ask-pairs.ts';
import { attemptOn } from './attempt.ts';
import type { AttemptTerms } from './attempt.ts';
import { Deadlines } from './deadlines.ts';
import { replicaAddress, shownUrl } from './http1/url.ts';
import { Pool } from './http1/pool.ts';
import type { ConnectionUse, PoolLimits } from './http1/pool.ts';
import { Replica } from './replica.ts';
import type { ReplicaWatch } from './replica.ts';
import { Rotation } from './rotation.ts';
import type { FailureTerms } from './replica-standing.ts';

export interface BalancerOptions extends PoolLimits {
  /** How results name it. */
  readonly name?: string;
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated; `undefined` for a protocol without. */
  readonly options?: unknown;
  /** At least one; any replica may get any request. */
  readonly urls: readonly string[];
  /** Where there are several engines: the one that work goes to when its first attempt here has failed; `undefined` to stay here. */
  readonly next?: (work: EngineWork) => AttemptwiseEngine | undefined;
  /** The work as this engine may get it, where that is less than was asked for. */
  readonly fit?: ((work: EngineWork) => EngineWork) | undefined;
  /** Called with what an adapter threw, which is a bug in the adapter. It may quote texts: not for a log in production. */
  readonly onAdapterError?: (error: unknown) => void;
  /** Called for each attempt with the tokens that a language model has read and written. */
  readonly onTokens?: (tokens: EngineTokens) => void;
  /** Called for each replica when it is added, with its URL; what it gives is told of all its attempts. */
  readonly watch?: (url: string) => ReplicaWatch;
  /** The wall clock. */
  readonly wallMs?: () => number;
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
  readonly name: string;
  /** `replica` is where it was made. */
  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica) => void): void;
  /**
   * The second attempt, which gives the result: at the next engine of the work, else not on `before` where there is another
   * replica. Without `before` the first was another engine's. None for a caller who has left.
   */
  second(asked: AskedWork, cancellation: Cancellation, failure: AttemptFailure, before: Replica | undefined): void;
}

/** Of a result that took no failed attempt. */
export const NO_FAILURES: readonly AttemptFailure[] = [];

/** Throws one clear line when a URL is wrong. Connects to nothing before the first call. */
export function openBalancer(options: BalancerOptions): AttemptwiseEngine {
  return new Balancer(options);
}

class Balancer implements AttemptwiseEngine {
  readonly name: string;
  readonly #options: BalancerOptions;
  readonly #terms: AttemptTerms;
  /** The terms of attempts that have less time than `timeoutMs`, by their milliseconds. */
  readonly #hasty = new Map<number, AttemptTerms>();
  readonly #nowMs: () => number;
  readonly #wallMs: () => number;
  readonly #rotation: Rotation<Replica>;
  /** Pools of removed replicas that are still closing; `close` waits for them. */
  readonly #leaving = new Set<Pool>();

  constructor(options: BalancerOptions) {
    this.#options = options;
    this.name = options.name ?? ONLY_ENGINE;
    const { protocol, timeoutMs, onAdapterError, onTokens } = options;
    this.#terms = { protocol, options: options.options, deadlines: new Deadlines(timeoutMs), onAdapterError, onTokens };
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#wallMs = options.wallMs ?? (() => Date.now());
    this.#rotation = new Rotation(this.#nowMs);
    this.setUrls(options.urls);
  }

  translate(asked: AskedWork, cancellation: Cancellation): void {
    if (cancellation.cancelled) {
      queueMicrotask(() => asked.answered({ kind: 'unavailable', failures: NO_FAILURES }));
      return;
    }
    const replica = this.#rotation.first();
    this.#attempt(replica, 'reused', asked, cancellation, (first) => {
      if (first.kind === 'usable')
        asked.answered({ kind: 'usable', translations: first.translations, failures: NO_FAILURES, engine: this.name });
      else this.second(asked, cancellation, first.failure, replica);
    });
  }

  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica) => void): void {
    const replica = this.#rotation.first();
    this.#attempt(replica, 'reused', work, cancellation, (attempt) => done(attempt, replica));
  }

  second(asked: AskedWork, cancellation: Cancellation, failure: AttemptFailure, before: Replica | undefined): void {
    if (cancellation.cancelled) {
      asked.answered({ kind: 'unavailable', failures: [failure] });
      return;
    }
    const next = before === undefined ? undefined : this.#options.next?.(asked);
    if (next !== undefined) {
      next.second(asked, cancellation, failure, undefined);
      return;
    }
    // After a restart of the engine every kept connection breaks when it is used: the second attempt must not take another of them.
    const replica = before === undefined ? this.#rotation.afterAnother() : this.#rotation.second(before);
    this.#attempt(replica, 'fresh', asked, cancellation, (second) => {
      if (second.kind === 'usable')
        asked.answered({ kind: 'usable', translations: second.translations, failures: [failure], engine: this.name });
      else asked.answered({ kind: 'unavailable', failures: [failure, second.failure] });
    });
  }

  setUrls(urls: readonly string[]): void {
    const { watch, protocol } = this.#options;
    const wanted = new Map<string, { readonly url: string; readonly base: URL }>();
    for (const url of urls) {
      const base = replicaAddress(url, protocol.pathPrefix);
      if (!wanted.has(base.href)) wanted.set(base.href, { url: shownUrl(url), base });
    }
    if (wanted.size === 0) throw new Error('engine.urls: must name at least one engine URL');
    const before = this.#rotation.members;
    this.#rotation.replace(
      [...wanted].map(
        ([place, { url, base }]) =>
          before.find((replica) => replica.place === place) ?? new Replica(url, place, new Pool(base, this.#options), watch?.(url)),
      ),
    );
    // The only one is never set aside.
    if (wanted.size === 1) this.#rotation.members[0]!.restore();
    this.#rotation.recount();
    for (const replica of before) {
      if (!wanted.has(replica.place)) void this.#leave(replica.wire);
    }
  }

  health(): readonly ReplicaHealth[] {
    const nowMs = this.#nowMs();
    return this.#rotation.members.map((replica) => replica.health(nowMs));
  }

  get askPairs(): (() => Promise<readonly ReplicaPairs[]>) | undefined {
    const { protocol, options, timeoutMs } = this.#options;
    if (protocol.pairs === undefined) return undefined;
    return () =>
      Promise.all(
        this.#rotation.members.map(async ({ url, wire }) => ({ url, pairs: await askPairs(wire, protocol, options, timeoutMs) })),
      );
  }

  async close(): Promise<void> {
    const wires = [...this.#leaving, ...this.#rotation.members.map((replica) => replica.wire)];
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
    const ticket = replica.standing.begin(this.#nowMs);
    const { fit } = this.#options;
    attemptOn(replica.wire, connection, fit === undefined ? work : fit(work), cancellation, terms, (attempt) => {
      const change =
        attempt.kind === 'usable'
          ? replica.usable(ticket, this.#nowMs())
          : replica.unusable(ticket, attempt, work, this.#failureTerms(work));
      if (change !== undefined) this.#rotation.recount();
      done(attempt);
    });
  }

  #failureTerms({ attemptMs }: EngineWork): FailureTerms {
    const { timeoutMs } = this.#options;
    return {
      nowMs: this.#nowMs(),
      wallMs: this.#wallMs(),
      deadlineShare: Math.min(1, (attemptMs ?? timeoutMs) / timeoutMs),
      lone: this.#rotation.members.length === 1,
    };
  }

  /** The same terms with a shorter deadline. Kept in a map, because the values are few: they come from configurations. */
  #hastier(attemptMs: number): AttemptTerms {
    const { timeoutMs } = this.#options;
    if (attemptMs >= timeoutMs) return this.#terms;
    let terms = this.#hasty.get(attemptMs);
    if (terms === undefined) this.#hasty.set(attemptMs, (terms = { ...this.#terms, deadlines: new Deadlines(attemptMs) }));
    return terms;
  }

  async #leave(wire: Pool): Promise<void> {
    this.#leaving.add(wire);
    await wire.close().catch(() => undefined);
    this.#leaving.delete(wire);
  }
}
