// The translation engine: takes work with validated parameters, returns usable translations or `unavailable`.
import type { Cancellation } from '../core/exchange.ts';
import type { LATER } from '../core/outcome.ts';
import type { Static, TSchema } from 'typebox';
import type { AttemptFailure } from '../domain/attempt-failure.ts';
import type { EngineCapabilities } from '../domain/engine-offer.ts';
import type { PairTest } from '../domain/languages.ts';
import type { AttemptsTrace } from '../domain/request-trace.ts';
import type { EngineGlossary, Translation, TranslationOptions } from '../domain/translation-options.ts';

export type { AttemptFailure } from '../domain/attempt-failure.ts';
export type { EngineCapabilities } from '../domain/engine-offer.ts';
export type { Translation } from '../domain/translation-options.ts';

/** Whether the engine of this name can take a dictionary, for work that it can otherwise do. A promise the first time. */
export type TakesGlossary = (engine: string, glossary: EngineGlossary, work: TranslationOptions) => boolean | Promise<boolean>;

/** One piece of work. */
export interface EngineWork {
  readonly requestId: string;
  /**
   * The team it is done for: engine calls are scheduled fairly between teams. `undefined` if several teams share it or none is
   * known.
   */
  readonly teamId?: string | undefined;
  readonly text: readonly string[];
  /** The same for all texts; absent options are omitted on the wire. */
  readonly options: TranslationOptions;
  /** The W3C `traceparent` to send: the caller's trace, our span. Each attempt of a traced request has its own. */
  readonly traceparent: string | undefined;
  /** Takes its attempts, if the request is traced. */
  readonly trace?: AttemptsTrace | undefined;
  /** Timeout of each attempt in milliseconds, if shorter than the engine's own. */
  readonly attemptMs?: number | undefined;
  /**
   * Only the language of these short texts is asked for. An adapter whose engine can detect it without translating returns the
   * texts unchanged; an adapter that ignores this flag translates them into `targetLang`.
   */
  readonly detectionOnly?: boolean | undefined;
  /** Names of the engines to try, in order; if absent, the only one configured. */
  readonly engines?: readonly string[] | undefined;
}

/** The underlying cause of a failure, if known. Also fixed words. */
export type FailureCause =
  /** Of `connect`: connection refused, name not resolved, no route, no answer in time. */
  | 'refused'
  | 'name_unknown'
  | 'unreachable'
  | 'silent'
  /** Of `connect` over TLS: name mismatch, untrusted issuer, outside its validity period, not TLS at all. */
  | 'tls_name'
  | 'tls_untrusted'
  | 'tls_expired'
  | 'tls_handshake'
  /** Of `status`: the server does not have the model. */
  | 'model_unknown';

/** Why an attempt failed, as far as is known. */
export interface FailureDetail {
  readonly failure: AttemptFailure;
  /** Status of the engine's answer, if the failure was found in one. */
  readonly status?: number | undefined;
  readonly cause?: FailureCause | undefined;
  /** With `internal`, what the protocol's adapter threw. */
  readonly thrown?: unknown;
}

/** Tokens that a language model read and wrote. */
export interface EngineTokens {
  readonly prompt: number;
  readonly completion: number;
}

/** The result of one attempt. `translations` has one entry per text. Tokens are counted for failed attempts too. */
export type Attempt = UsableAttempt | UnusableAttempt;

interface UsableAttempt {
  readonly kind: 'usable';
  readonly translations: readonly Translation[];
  readonly tokens?: EngineTokens | undefined;
}

/** An adapter returns the failure, and its cause if known; the gateway adds what it saw of the answer. */
export interface UnusableAttempt extends FailureDetail {
  readonly kind: 'unusable';
  /** The engine's `Retry-After`, verbatim. */
  readonly retryAfter?: string | undefined;
  readonly tokens?: EngineTokens | undefined;
}

export type EngineResult =
  | {
      readonly kind: 'usable';
      readonly translations: readonly Translation[];
      readonly failures: readonly AttemptFailure[];
      /** Name of the engine that answered. */
      readonly engine: string;
    }
  /** Two attempts, neither usable, or cancelled before that. */
  | { readonly kind: 'unavailable'; readonly failures: readonly AttemptFailure[] };

/** Health of one engine replica, as seen by one process. */
export interface ReplicaHealth {
  /** Without credentials: a URL that contains any is rejected. */
  readonly url: string;
  /** Usable attempts. */
  readonly usable: number;
  /** Unusable attempts. Attempts cancelled by the caller are counted in neither. */
  readonly failed: number;
  /** How long ago the last usable attempt was; `undefined` if there never was one. */
  readonly usableAgoMs: number | undefined;
  readonly lastFailure: (Pick<FailureDetail, 'failure' | 'status' | 'cause'> & { readonly agoMs: number }) | undefined;
  /** How much longer the replica stays set aside: 0 when the next request will try it, `undefined` when it is not set aside. */
  readonly asideMs: number | undefined;
  /** Whether it could be used when it was last tried, by a request or without one; `undefined` before that. */
  readonly reached: boolean | undefined;
}

/** The result of a trial without a request: whether a connection could be made. */
export interface ReplicaTrial {
  /** Without credentials. */
  readonly url: string;
  /** `undefined` if the replica can be used, as far as the trial shows. */
  readonly failure: FailureDetail | undefined;
}

/** As in `GlossaryStorage`, for all replicas of an engine. Neither rejects; each returns the replicas where it failed. */
export interface GlossaryUpkeep {
  tidy(nowMs: number): Promise<readonly ReplicaTrial[]>;
  forget(teamId: string): Promise<readonly ReplicaTrial[]>;
}

/** Work with a callback for its result, invoked exactly once and never before `translate` has returned. It must not throw. */
export interface AskedWork extends EngineWork {
  answered(result: EngineResult): void;
  /** Called for each failed attempt made for this work, also one that it shares, before `answered`. Must not throw. */
  attemptFailed?(failure: FailureDetail): void;
}

export interface Engine {
  /** At most two attempts, the second on another replica if there is one. None if the caller has already disconnected. */
  translate(asked: AskedWork, cancellation: Cancellation): void;
  /** With several engines: whether the named one currently has no healthy replica and none that is due for a trial. */
  isFailing?(engine: string): boolean;
  /** Whether the named engine has shown within the last minute that it detects no languages, by each of its replicas. */
  cannotDetect?(engine: string): boolean;
  close(): Promise<void>;
}

/** The pairs that a replica reported, or why it did not. */
export interface ReplicaPairs {
  /** Without credentials. */
  readonly url: string;
  readonly pairs: PairTest | AttemptFailure;
  /** With a failure: what is known of it. */
  readonly detail?: FailureDetail;
}

/** A complete HTTP answer of an engine, within the size limit. */
export interface EngineResponse {
  readonly status: number;
  /** Whether it echoed the `X-Request-Id` of its call. */
  readonly echoedId?: boolean;
  readonly body: Uint8Array;
  /** The `Retry-After` field, if present. */
  readonly retryAfter?: string | undefined;
}

export interface EngineCall {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path and query below the replica's URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** Replaces `body` when it would be long: chunks written one after another, unchanged. */
  readonly pieces?: readonly Uint8Array[];
  /** How long the answer may be, for a file; by default as long as the engine's answers may be. */
  readonly answerBytesMax?: number;
}

/** The connection of one attempt to one replica. The attempt's deadline and cancellation are built in. */
export interface EngineWire {
  /** Which of a request's two attempts this is. */
  readonly attempt: 1 | 2;
  /** Identifies the replica: for what an adapter keeps of each, in a `WeakMap`. */
  readonly replica: object;
  /** A failure is one of our fixed words and contains nothing that the engine sent. */
  call(call: EngineCall): Promise<EngineResponse | AttemptFailure>;
  /**
   * Makes the attempt's last call without promises, which is cheaper. The result of the attempt is what `judge` makes of the
   * response, or the call's failure. `attempt` returns the return value of `send`.
   */
  send(call: EngineCall, judge: JudgeResponse): typeof LATER;
}

export type JudgeResponse = (response: EngineResponse, work: EngineWork) => Attempt;

/** Dictionaries that are stored at an engine, by each of its replicas. */
interface GlossaryStorage<Options> {
  /** Whether the engine can take this dictionary at all, for this pair; one that cannot is left out. A promise the first time. */
  takes(glossary: EngineGlossary, work: TranslationOptions): boolean | Promise<boolean>;
  /** Removes what has not been used for a day. To be called about once an hour. Returns why it could not. */
  tidy(wire: ReplicaWire, options: Options, nowMs: number): Promise<AttemptFailure | undefined>;
  /** Removes everything of a team that was deleted. Returns why it could not. */
  forget(wire: ReplicaWire, options: Options, teamId: string): Promise<AttemptFailure | undefined>;
}

/** A document that goes to an engine as the file that it is. */
export interface FileWork {
  readonly requestId: string;
  readonly teamId: string;
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** As in `EngineWork`; the gateway adds it to every call. */
  readonly traceparent: string | undefined;
  readonly sourceLang: string | undefined;
  readonly targetLang: string;
  readonly formality: string | undefined;
  /** What was counted in it, or what the team's plan holds if only engines can read it: as long as the engine has billed nothing else. */
  readonly characters: number;
}

export interface TranslatedFile {
  readonly bytes: Uint8Array;
  /** What the engine charges the operator for it, in characters, if it says so. */
  readonly billed: number | undefined;
}

/** The files that an engine translates. */
interface FileTranslation<Options> {
  /** The endings of their names, in lower case without the dot; none if the options turn it off. */
  formats(options: Options): readonly string[];
  /** Makes one attempt, which ends in minutes at the latest. The file is judged by the caller. */
  translate(work: FileWork, wire: ReplicaWire, options: Options): Promise<TranslatedFile | AttemptFailure>;
}

/** Every engine that takes files, by name. */
export interface FileEngines {
  /** Endings, in lower case without the dot. */
  formatsOf(engine: string): readonly string[];
  /** One attempt; `second` of a work is made at another replica, if there is one. Never rejects. */
  translate(
    engine: string,
    work: FileWork,
    attempt: { readonly second: boolean; readonly signal: AbortSignal },
  ): Promise<TranslatedFile | FailureDetail>;
}

/** A connection to one replica without an attempt. */
export type ReplicaWire = Pick<EngineWire, 'call' | 'replica'>;

/** An adapter: makes one attempt over the given wire and judges the content, never the status alone. */
export interface EngineProtocol<Options extends TSchema = TSchema> {
  /** `options` come from the configuration, validated, with defaults and secrets filled in. */
  attempt(work: EngineWork, wire: EngineWire, options: Static<Options>): Promise<Attempt | typeof LATER> | typeof LATER;
  /**
   * Schema of `engine.options`, an object; secrets in it are declared with `secret`. `headers` is common to all protocols and
   * not part of it.
   */
  readonly options?: Options;
  /** Defaults to plain text and every other capability but `instructions` and `styles`. */
  readonly can?: Partial<EngineCapabilities>;
  /** Common prefix of all call paths, such as `/v1`; a replica's URL may or may not already end in it. */
  readonly pathPrefix?: string;
  /**
   * For an engine that stores dictionaries of teams instead of getting their entries with each request. Absent if it takes them as
   * they are, or none.
   */
  readonly storedGlossaries?: GlossaryStorage<Static<Options>>;
  /** For an engine that translates whole files. */
  readonly files?: FileTranslation<Static<Options>>;
  /**
   * Asks one replica which pairs it translates, for engines that can report them. The test takes our codes and answers for the
   * codes that `attempt` would send. After a failure the previously known pairs stay in force.
   */
  pairs?(wire: Pick<EngineWire, 'call'>, options: Static<Options>): Promise<PairTest | AttemptFailure>;
  /**
   * Asks one replica for something that costs nothing, when the gateway starts: `undefined` if this protocol is spoken there.
   * Without it a connection is all that is tried; an engine that is asked for its pairs is not tried besides.
   */
  trial?(wire: Pick<EngineWire, 'call'>, options: Static<Options>): Promise<AttemptFailure | undefined>;
}
