// The engines as the service sees them: each rotates between its replicas, and makes the second
// attempt elsewhere over a new connection.
import { performance } from 'node:perf_hooks';
import { Canceller } from '../core/exchange.ts';
import type { Cancellation } from '../core/exchange.ts';
import { checkSentence } from '../domain/check-sentence.ts';
import { ONLY_ENGINE } from '../domain/engine-routing.ts';
import { NOTHING_CHOSEN } from '../domain/translation-options.ts';
import type { EngineGlossary, TranslationOptions } from '../domain/translation-options.ts';
import { ulidSource } from '../domain/ulid.ts';
import type {
  AskedWork,
  Attempt,
  AttemptFailure,
  Engine,
  EngineCapabilities,
  EngineProtocol,
  EngineTokens,
  EngineWork,
  FailureDetail,
  FileAttempt,
  FileWork,
  GlossaryUpkeep,
  NamedEngine,
  ReplicaHealth,
  ReplicaPairs,
  ReplicaWire,
  ReplicaTrial,
  TranslatedFile,
} from '../ports/engine.ts';
import { askReplica, RunningAttempt } from './attempt.ts';
import type { AttemptTerms } from './attempt.ts';
import { Batches, NO_FAILURES } from './batch.ts';
import type { Attempts, BatchLimits } from './batch.ts';
import { replicaAddress, shownUrl } from './http1/origin.ts';
import { Pool } from './http1/pool.ts';
import type { ConnectionUse, PoolLimits } from './http1/pool.ts';
import { Replica, Rotation } from './replica.ts';
import type { ReplicaTerms, ReplicaWatch } from './replica.ts';

export interface EngineOptions extends PoolLimits {
  /** Its name in results. */
  readonly name?: string;
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated; `undefined` for a protocol without options. */
  readonly options?: unknown;
  /** At least one; any replica may receive any request. */
  readonly urls: readonly string[];
  /** With several engines, the one for the second attempt; `undefined` to stay here. */
  readonly next?: (work: EngineWork) => Balancer | undefined;
  /** Without it, every request is a separate call. */
  readonly batch?: BatchLimits | undefined;
  /** Called for every call that several requests share. */
  readonly onBatch?: (requests: number) => void;
  /** Adapts work to what this engine supports, if it supports less than was asked for. */
  readonly fit?: ((work: EngineWork) => EngineWork) | undefined;
  /** Called for each attempt with the tokens that a language model read and wrote. */
  readonly onTokens?: (tokens: EngineTokens) => void;
  /** Called for each attempt, with the texts that it sends. */
  readonly onSent?: ((text: readonly string[]) => void) | undefined;
  /**
   * Called for each attempt at a file, with its characters as far as known. The result is called at
   * its end with what the engine has billed.
   */
  readonly onFileSent?: ((characters: number) => (billed: number) => void) | undefined;
  /** Called for each request's second attempt that is made here, with its outcome. */
  readonly onSecond?: (outcome: AttemptFailure | 'usable') => void;
  /** Called with the URL of each added replica; its watch is notified of all its attempts. */
  readonly watch?: (url: string) => ReplicaWatch;
  /** The wall clock. */
  readonly wallMs?: () => number;
}

/** Calls that hold a connection, and calls that wait for one. */
interface CallLoad {
  readonly inFlight: number;
  readonly waiting: number;
}

/** Limit for fetching a list of pairs, however long a translation may take. */
const PAIRS_MS_MAX = 10_000;
/** How long a trial waits for a connection: whoever has just started the gateway reads the log. */
const REACH_MS_MAX = 4000;
/** For lists and removals at one replica. */
const UPKEEP_MS = 60_000;
/** For an attempt to translate a file, whatever the timeout for texts is. */
const FILE_MS = 600_000;

/** Throws one clear line if a URL is invalid. Connects to nothing before the first call. */
export class Balancer implements Attempts, NamedEngine {
  readonly name: string;
  readonly #options: EngineOptions;
  readonly #terms: AttemptTerms;
  readonly #replicaTerms: ReplicaTerms;
  readonly #nowMs: () => number;
  /** Ids of calls that belong to no request. */
  readonly #newId: () => string;
  readonly #rotation: Rotation<Replica>;
  readonly #batches: Batches | undefined;
  /** Pools of removed replicas, until their last attempt ends or `close` ends it. */
  readonly #leaving = new Set<Pool>();
  /** Trials without a caller that are under way. */
  readonly #trials = new Set<Canceller>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.name = options.name ?? ONLY_ENGINE;
    const { protocol, timeout_ms: timeoutMs, onTokens, batch, onBatch } = options;
    this.#terms = { protocol, options: options.options, timeoutMs, onTokens };
    this.#nowMs = options.nowMs ?? performance.now.bind(performance);
    const wallMs = options.wallMs ?? (() => Date.now());
    this.#replicaTerms = { nowMs: this.#nowMs, wallMs, timeoutMs };
    this.#newId = ulidSource(wallMs);
    this.#rotation = new Rotation(this.#nowMs);
    this.#batches = batch === undefined ? undefined : new Batches(this, batch, onBatch);
    this.setUrls(options.urls);
  }

  translate(asked: AskedWork, cancellation: Cancellation): void {
    if (this.#batches === undefined) this.alone(asked, cancellation);
    else this.#batches.translate(asked, cancellation);
  }

  alone(asked: AskedWork, cancellation: Cancellation): void {
    if (cancellation.cancelled) {
      queueMicrotask(() => asked.answered({ kind: 'unavailable', failures: NO_FAILURES }));
      return;
    }
    this.first(asked, cancellation, (first, replica) => {
      if (first.kind === 'usable')
        asked.answered({ kind: 'usable', translations: first.translations, failures: NO_FAILURES, engine: this.name });
      else this.second(asked, cancellation, first, replica);
    });
  }

  first(work: EngineWork, cancellation: Cancellation, done: (attempt: Attempt, replica: Replica, echoedIds: boolean) => void): void {
    this.#attempt(this.#rotation.first(), 'reused', work, cancellation, done);
  }

  second(asked: AskedWork, cancellation: Cancellation, first: FailureDetail, before: Replica | undefined): void {
    const { failure } = first;
    if (before !== undefined) asked.attemptFailed?.(first);
    if (cancellation.cancelled) {
      asked.answered({ kind: 'unavailable', failures: [failure] });
      return;
    }
    const next = before === undefined ? undefined : this.#options.next?.(asked);
    if (next !== undefined) {
      next.second(asked, cancellation, first, undefined);
      return;
    }
    // After a restart of the engine every idle connection breaks: the second attempt takes none.
    const replica = before === undefined ? this.#rotation.afterAnother() : this.#rotation.second(before);
    this.#attempt(replica, 'fresh', asked, cancellation, (second) => {
      this.#options.onSecond?.(second.kind === 'usable' ? 'usable' : second.failure);
      if (second.kind !== 'usable') asked.attemptFailed?.(second);
      if (second.kind === 'usable')
        asked.answered({ kind: 'usable', translations: second.translations, failures: [failure], engine: this.name });
      else asked.answered({ kind: 'unavailable', failures: [failure, second.failure] });
    });
    if (before === undefined) this.#tryOverdue(asked.options);
  }

  /**
   * A first attempt usually tries a replica that was set aside. If none comes, because this engine
   * is a fallback, the check sentence does, so that no caller's last attempt is spent on it.
   */
  #tryOverdue({ sourceLang, targetLang }: TranslationOptions): void {
    const replica = this.#rotation.overdue();
    if (replica === undefined) return;
    const options = { ...NOTHING_CHOSEN, sourceLang, targetLang };
    const work = { requestId: this.#newId(), text: [checkSentence(sourceLang)], options, traceparent: undefined };
    const trial = new Canceller();
    this.#trials.add(trial);
    this.#attempt(replica, 'fresh', work, trial, () => this.#trials.delete(trial));
  }

  takesGlossary(glossary: EngineGlossary, work: TranslationOptions): boolean | Promise<boolean> {
    return this.#options.protocol.storedGlossaries?.takes(glossary, work) ?? true;
  }

  formats(): readonly string[] {
    return this.#options.protocol.files?.formats(this.#options.options) ?? [];
  }

  /** By a protocol with `files`. */
  async translateFile(work: FileWork, { second, signal }: FileAttempt): Promise<TranslatedFile | FailureDetail> {
    const { protocol, options, onFileSent } = this.#options;
    const replica = second ? this.#rotation.afterAnother() : this.#rotation.first();
    const startedMs = this.#nowMs();
    const ticket = replica.standing.begin(this.#nowMs);
    const { requestId, teamId, sourceLang, targetLang, characters, traceparent } = work;
    const billed = onFileSent?.(characters);
    const asWork: EngineWork = { requestId, teamId, text: [], options: { ...NOTHING_CHOSEN, sourceLang, targetLang }, traceparent };
    const run = (wire: ReplicaWire) => protocol.files!.translate(work, wire, options);
    const terms = { signal, caller: work, attempt: second ? 2 : 1, questionMs: this.#options.timeout_ms } as const;
    const result = await askReplica(replica.wire, FILE_MS, run, terms);
    billed?.('failure' in result ? 0 : (result.billed ?? characters));
    replica.ended(ticket, startedMs, 'failure' in result ? { kind: 'unusable', ...result } : undefined, asWork);
    return result;
  }

  /** Attempts on a removed replica may finish. Throws, and changes nothing, for an invalid URL. */
  setUrls(urls: readonly string[]): void {
    const { watch, protocol } = this.#options;
    const bases = new Map<string, { readonly url: string; readonly base: URL }>();
    for (const url of urls) {
      const base = replicaAddress(url, protocol.pathPrefix);
      if (!bases.has(base.href)) bases.set(base.href, { url: shownUrl(url), base });
    }
    if (bases.size === 0) throw new Error('engine.urls: must name at least one engine URL');
    const before = this.#rotation.members;
    const members = [...bases].map(
      ([place, { url, base }]) =>
        before.find((replica) => replica.place === place) ??
        new Replica(url, place, new Pool(base, this.#options), this.#replicaTerms, watch?.(url)),
    );
    this.#rotation.members = members;
    for (const replica of members) replica.renew(members.length === 1);
    for (const replica of before) if (!bases.has(replica.place)) void this.#leave(replica.wire);
  }

  /** A single replica as if it could be set aside. */
  isFailing(): boolean {
    const nowMs = this.#nowMs();
    return this.#rotation.members.every(({ standing }) => standing.aside && !standing.isDue(nowMs));
  }

  cannotDetect(): boolean {
    const nowMs = this.#nowMs();
    return this.#rotation.members.every((replica) => replica.cannotDetect(nowMs));
  }

  /** In configuration order. */
  health(): readonly ReplicaHealth[] {
    return this.#rotation.members.map((replica) => replica.health());
  }

  /** Of all replicas together. */
  load(): CallLoad {
    const load = { inFlight: 0, waiting: 0 };
    for (const { inFlight, waiting } of this.#wires()) {
      load.inFlight += inFlight;
      load.waiting += waiting;
    }
    return load;
  }

  /** Asks every replica for its pairs; never rejects. `undefined` if the protocol has none. */
  get askPairs(): (() => Promise<readonly ReplicaPairs[]>) | undefined {
    const { protocol, options, timeout_ms: timeoutMs } = this.#options;
    if (protocol.pairs === undefined) return undefined;
    return () =>
      Promise.all(
        this.#rotation.members.map(async (replica) => {
          const pairs = await askReplica(replica.wire, Math.min(timeoutMs, PAIRS_MS_MAX), (wire) => protocol.pairs!(wire, options));
          replica.tried('failure' in pairs ? pairs : undefined);
          return { url: replica.url, pairs };
        }),
      );
  }

  /** The upkeep of dictionaries that are stored there; `undefined` if the protocol stores none. */
  get upkeep(): GlossaryUpkeep | undefined {
    const { protocol, options } = this.#options;
    const stored = protocol.storedGlossaries;
    if (stored === undefined) return undefined;
    const atAll = async (run: (wire: ReplicaWire) => Promise<AttemptFailure | undefined>): Promise<readonly ReplicaTrial[]> => {
      const done = this.#rotation.members.map(async ({ url, wire }) => ({ url, failure: await askReplica(wire, UPKEEP_MS, run) }));
      return (await Promise.all(done)).filter(({ failure }) => failure !== undefined);
    };
    return {
      tidy: (nowMs) => atAll((wire) => stored.tidy(wire, options, nowMs)),
      forget: (teamId) => atAll((wire) => stored.forget(wire, options, teamId)),
    };
  }

  /** Tries every replica, by a connection or `trial`; never rejects. `health` has the results. */
  tryAll(): Promise<readonly ReplicaTrial[]> {
    const { protocol, options, timeout_ms: timeoutMs } = this.#options;
    const withinMs = Math.min(timeoutMs, REACH_MS_MAX);
    return Promise.all(
      this.#rotation.members.map(async (replica) => {
        const failure =
          protocol.trial === undefined
            ? await replica.wire.reach(withinMs)
            : await askReplica(replica.wire, withinMs, (wire) => protocol.trial!(wire, options));
        replica.tried(failure);
        return { url: replica.url, failure };
      }),
    );
  }

  async close(): Promise<void> {
    this.#batches?.close();
    // Otherwise the end of their connections would be logged as failures of the engine.
    for (const trial of this.#trials) trial.cancel();
    for (const wire of this.#wires()) wire.destroy();
  }

  #wires(): readonly Pool[] {
    return [...this.#leaving, ...this.#rotation.members.map(({ wire }) => wire)];
  }

  #attempt(
    replica: Replica,
    connection: ConnectionUse,
    work: EngineWork,
    cancellation: Cancellation,
    done: (attempt: Attempt, replica: Replica, echoedIds: boolean) => void,
  ): void {
    const { attemptMs = Infinity } = work;
    const terms = attemptMs < this.#terms.timeoutMs ? { ...this.#terms, timeoutMs: attemptMs } : this.#terms;
    const startedMs = this.#nowMs();
    const ticket = replica.standing.begin(this.#nowMs);
    const trace = work.trace?.attempt({ engine: this.name, url: replica.url, number: connection === 'reused' ? 1 : 2 });
    let fitting = this.#options.fit?.(work) ?? work;
    // An attempt's own span is the engine's parent.
    if (trace !== undefined) fitting = { ...fitting, traceparent: trace.traceparent };
    const ended = (attempt: Attempt, echoedIds: boolean): void => {
      if (attempt.kind === 'usable') trace?.ended(undefined);
      else trace?.ended(attempt.failure, attempt.status, attempt.cause);
      replica.ended(ticket, startedMs, attempt.kind === 'usable' ? undefined : attempt, work);
      done(attempt, replica, echoedIds);
    };
    this.#options.onSent?.(fitting.text);
    new RunningAttempt(replica.wire, connection, fitting, cancellation, terms, ended).run();
  }

  async #leave(wire: Pool): Promise<void> {
    this.#leaving.add(wire);
    await wire.close().catch(() => undefined);
    this.#leaving.delete(wire);
  }
}

export interface NamedEngineOptions extends EngineOptions {
  readonly name: string;
  readonly can: EngineCapabilities;
}

/** The configured engines: a second attempt goes to the next one that the work names. */
export class Engines implements Engine {
  readonly byName: ReadonlyMap<string, Balancer>;
  readonly #first: Balancer;

  /** At least one. Throws one clear line if a URL is invalid. */
  constructor(all: readonly NamedEngineOptions[]) {
    const next = ({ engines }: EngineWork): Balancer | undefined => this.byName.get(engines?.[1] ?? '');
    const several = (can: EngineCapabilities) => ({ next, fit: can.formality ? undefined : withoutFormality });
    this.byName = new Map(
      all.map((options) => [options.name, new Balancer(all.length === 1 ? options : { ...options, ...several(options.can) })]),
    );
    this.#first = this.byName.values().next().value!;
  }

  of(name = ''): Balancer {
    return this.byName.get(name) ?? this.#first;
  }

  translate(asked: AskedWork, cancellation: Cancellation): void {
    this.of(asked.engines?.[0]).translate(asked, cancellation);
  }

  async close(): Promise<void> {
    await Promise.all([...this.byName.values()].map((one) => one.close()));
  }
}

/** Without formality: removes a `prefer_` form that the request's other engine supports. */
function withoutFormality(work: EngineWork): EngineWork {
  return work.options.formality === undefined ? work : { ...work, options: { ...work.options, formality: undefined } };
}
