// The translation engine: takes validated work, returns usable translations or `unavailable`.
import type { Cancellation } from '../core/exchange.ts';
import type { LATER } from '../core/outcome.ts';
import type { Static, TSchema } from 'typebox';
import type { AttemptFailure } from '../domain/attempt-failure.ts';
import type { EngineCapabilities, EngineGlossary, Translation, TranslationOptions } from '../domain/translation-options.ts';
import type { PairTest } from '../domain/languages.ts';
import type { AttemptsTrace } from '../domain/request-trace.ts';

export type { AttemptFailure } from '../domain/attempt-failure.ts';
export type { EngineCapabilities, Translation } from '../domain/translation-options.ts';

/** One piece of work. */
export interface EngineWork {
  readonly requestId: string;
  /**
   * For which it is done, because calls take turns; `undefined` if several share it, or none is
   * known.
   */
  readonly teamId?: string | undefined;
  readonly text: readonly string[];
  /** The same for all texts; absent options are omitted on the wire. */
  readonly options: TranslationOptions;
  /** The W3C `traceparent`: the caller's trace, our span. Each traced attempt has its own. */
  readonly traceparent: string | undefined;
  /** Takes its attempts, if the request is traced. */
  readonly trace?: AttemptsTrace | undefined;
  /** Timeout of each attempt in milliseconds, if shorter than the engine's own. */
  readonly attemptMs?: number | undefined;
  /**
   * Only the language of these short texts is asked for: an adapter whose engine detects without
   * translating returns them unchanged; others translate into `targetLang`.
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
  /** Of `connect` over TLS: name mismatch, untrusted issuer, outside its validity, no TLS. */
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

/** Of one attempt: an entry per text. Tokens are counted for failed attempts too. */
export type Attempt = UsableAttempt | UnusableAttempt;

interface UsableAttempt {
  readonly kind: 'usable';
  readonly translations: readonly Translation[];
  readonly tokens?: EngineTokens | undefined;
}

/** An adapter returns the failure, and its cause; the gateway adds what it saw. */
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
  /** How long it stays set aside: 0 when a request will try it, `undefined` when it is not. */
  readonly asideMs: number | undefined;
  /** Whether its last trial succeeded, by a request or without; `undefined` before one. */
  readonly reached: boolean | undefined;
}

/** The result of a trial without a request: whether a connection could be made. */
export interface ReplicaTrial {
  /** Without credentials. */
  readonly url: string;
  /** `undefined` if the replica can be used, as far as the trial shows. */
  readonly failure: FailureDetail | undefined;
}

/** As `GlossaryStorage`, for all replicas. Never rejects; returns those that failed. */
export interface GlossaryUpkeep {
  tidy(nowMs: number): Promise<readonly ReplicaTrial[]>;
  forget(teamId: string): Promise<readonly ReplicaTrial[]>;
}

/** `answered` is called exactly once, after `translate` has returned, and must not throw. */
export interface AskedWork extends EngineWork {
  answered(result: EngineResult): void;
  /** Called for each failed attempt, also a shared one, before `answered`. Must not throw. */
  attemptFailed?(failure: FailureDetail): void;
}

/** All engines as one: work names the eligible ones. */
export interface Engine {
  /** At most two attempts, the second elsewhere if possible. None if the caller has left. */
  translate(asked: AskedWork, cancellation: Cancellation): void;
  of(name: string): NamedEngine;
  close(): Promise<void>;
}

export interface NamedEngine {
  /** With several engines: whether this one has no replica that is healthy or due for a trial. */
  isFailing(): boolean;
  /** Whether each replica of it has shown within a minute that it detects no languages. */
  cannotDetect(): boolean;
  /** Whether it takes this dictionary for possible work. A promise the first time. */
  takesGlossary(glossary: EngineGlossary, work: TranslationOptions): boolean | Promise<boolean>;
  /** The endings of the files that it translates, in lower case without the dot. */
  formats(): readonly string[];
  /** One attempt; `second` of a work is made at another replica, if there is one. Never rejects. */
  translateFile(work: FileWork, attempt: FileAttempt): Promise<TranslatedFile | FailureDetail>;
}

/** The pairs that a replica reported, or why it did not. */
export interface ReplicaPairs {
  /** Without credentials. */
  readonly url: string;
  readonly pairs: PairTest | FailureDetail;
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

/** An attempt's connection to one replica, with its deadline and cancellation. */
export interface EngineWire {
  /** Which of a request's two attempts this is. */
  readonly attempt: 1 | 2;
  /** Identifies the replica: for what an adapter keeps of each, in a `WeakMap`. */
  readonly replica: object;
  /** A failure is one of our fixed words and contains nothing that the engine sent. */
  call(call: EngineCall): Promise<EngineResponse | AttemptFailure>;
  /**
   * The attempt's last call, without promises, which is cheaper: `judge` makes the result of its
   * response. `attempt` returns what `send` returns.
   */
  send(call: EngineCall, judge: JudgeResponse): typeof LATER;
}

export type JudgeResponse = (response: EngineResponse, work: EngineWork) => Attempt;

/** Dictionaries that are stored at an engine, by each of its replicas. */
interface GlossaryStorage<Options> {
  /** Whether the engine takes this dictionary for this pair. A promise the first time. */
  takes(glossary: EngineGlossary, work: TranslationOptions): boolean | Promise<boolean>;
  /** About once an hour: removes what was not used for a day. Returns why it could not. */
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
  /** What was counted in it, or what the plan holds: until the engine says what it bills. */
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

export interface FileAttempt {
  readonly second: boolean;
  readonly signal: AbortSignal;
}

/** A connection to one replica without an attempt. */
export type ReplicaWire = Pick<EngineWire, 'call' | 'replica'>;

/** An adapter: makes one attempt and judges the content, never the status alone. */
export interface EngineProtocol<Options extends TSchema = TSchema> {
  /** `options` come from the configuration, validated, with defaults and secrets filled in. */
  attempt(work: EngineWork, wire: EngineWire, options: Static<Options>): Promise<Attempt | typeof LATER> | typeof LATER;
  /**
   * Schema of `engine.options`, an object; its secrets are declared with `secret`. `headers` is
   * common to all protocols and not part of it.
   */
  readonly options?: Options;
  /** Defaults to plain text and every other capability but `instructions` and `styles`. */
  readonly can?: Partial<EngineCapabilities>;
  /** Common prefix of call paths, such as `/v1`; a replica's URL may already end in it. */
  readonly pathPrefix?: string;
  /**
   * For an engine that stores teams' dictionaries instead of getting their entries with each
   * request. Absent if it takes them as they are, or none.
   */
  readonly storedGlossaries?: GlossaryStorage<Static<Options>>;
  /** For an engine that translates whole files. */
  readonly files?: FileTranslation<Static<Options>>;
  /**
   * Asks one replica for its pairs. The test takes our codes and answers for those that `attempt`
   * would send. After a failure the known pairs stay in force.
   */
  pairs?(wire: Pick<EngineWire, 'call'>, options: Static<Options>): Promise<PairTest | AttemptFailure>;
  /**
   * Asks one replica, at the start, for what costs nothing: `undefined` if it speaks this protocol.
   * By default a connection or `pairs` is all that is tried.
   */
  trial?(wire: Pick<EngineWire, 'call'>, options: Static<Options>): Promise<AttemptFailure | undefined>;
}
