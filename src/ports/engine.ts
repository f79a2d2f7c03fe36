// The translation engine: takes work whose parameters are checked, gives usable translations or `unavailable`.
import type { Cancellation } from '../core/exchange.ts';
import type { LATER } from '../core/outcome.ts';
import type { Static, TSchema } from 'typebox';
import type { PairTest } from '../domain/languages.ts';
import type { TextFormat, Translation, TranslationOptions } from '../domain/translation-options.ts';

export type { Translation } from '../domain/translation-options.ts';

/** One piece of work. */
export interface EngineWork {
  readonly requestId: string;
  /** For whom it is done: engine calls are shared out fairly between teams. `undefined` where several share it, or none is known. */
  readonly teamId?: string | undefined;
  readonly text: readonly string[];
  /** The same for all texts; absent ones are left out on the wire. */
  readonly options: TranslationOptions;
  /** The W3C `traceparent` to send along: the caller's trace, our span. */
  readonly traceparent: string | undefined;
  /** Milliseconds for each attempt, where that is less than the engine's own limit. */
  readonly attemptMs?: number | undefined;
  /**
   * Only the language of the texts is asked for, and they are short: an adapter whose engine can tell it without a
   * translation gives the texts back as they are. One that takes no notice translates them into `targetLang` all the same.
   */
  readonly detectionOnly?: boolean | undefined;
  /** Names of the engines to try, in order; without it the only one there is. */
  readonly engines?: readonly string[] | undefined;
}

/** Why an attempt gave nothing usable: a fixed set of words for logs and metrics, never the engine's own. */
export type AttemptFailure =
  | 'connect'
  | 'reset'
  | 'timeout'
  | 'status'
  | 'too_large'
  | 'not_json'
  | 'wrong_shape'
  /** The answer names another request by its `X-Request-Id`. */
  | 'foreign_id'
  /** Bytes came that nobody had asked for, so that nobody can tell whose answer is on this connection. */
  | 'unasked'
  /** A language model's answer ended at its token limit. */
  | 'cut_off'
  | 'unsupported_pair'
  | 'busy'
  /** The operator's own quota at the engine is used up: to be alerted on. */
  | 'engine_quota'
  | 'cancelled'
  | 'internal';

/** What lies behind a failure, where it can be told. Fixed words, too. */
export type FailureCause =
  /** Of `connect`: nobody listens there, no such name, no way there, no answer in time. */
  | 'refused'
  | 'name_unknown'
  | 'unreachable'
  | 'silent'
  /** Of `connect` by TLS: another name, an issuer that is not trusted, not valid today, not TLS at all. */
  | 'tls_name'
  | 'tls_untrusted'
  | 'tls_expired'
  | 'tls_handshake'
  /** Of `status`: the server does not have the model. */
  | 'model_unknown';

/** Why an attempt failed, as far as it is known. */
export interface FailureDetail {
  readonly failure: AttemptFailure;
  /** Of the engine's answer, where the failure was found in one. */
  readonly status?: number | undefined;
  readonly cause?: FailureCause | undefined;
}

/** What a language model has read and written. */
export interface EngineTokens {
  readonly prompt: number;
  readonly completion: number;
}

/** One attempt's result. `translations` has as many entries as the work has texts. Tokens are counted for failed attempts too. */
export type Attempt = UsableAttempt | UnusableAttempt;

export interface UsableAttempt {
  readonly kind: 'usable';
  readonly translations: readonly Translation[];
  readonly tokens?: EngineTokens | undefined;
}

/** An adapter gives the failure, and a cause where it knows one; the gateway adds what it has seen of the answer. */
export interface UnusableAttempt extends FailureDetail {
  readonly kind: 'unusable';
  /** The engine's `Retry-After`, as it stood there. */
  readonly retryAfter?: string | undefined;
  readonly tokens?: EngineTokens | undefined;
}

export type EngineResult =
  | {
      readonly kind: 'usable';
      readonly translations: readonly Translation[];
      readonly failures: readonly AttemptFailure[];
      /** Name of the one that answered. */
      readonly engine: string;
    }
  /** Two attempts, none usable (or called off before that). */
  | { readonly kind: 'unavailable'; readonly failures: readonly AttemptFailure[] };

/** How one of the engine's replicas has done so far, as one process has seen it. */
export interface ReplicaHealth {
  /** Without credentials: a URL that holds some is refused. */
  readonly url: string;
  /** Attempts that gave something usable. */
  readonly usable: number;
  /** Attempts that did not; those that the caller called off are in neither. */
  readonly failed: number;
  /** How long ago an attempt was usable for the last time; `undefined` when none ever was. */
  readonly usableAgoMs: number | undefined;
  readonly lastFailure: { readonly failure: AttemptFailure; readonly agoMs: number } | undefined;
  /** Set aside, and for how long still: 0 when the next request tries it. `undefined` when it is not. */
  readonly asideMs: number | undefined;
}

/** Work with a callback for its result: called once, never before the call that asked has returned. It must not throw. */
export interface AskedWork extends EngineWork {
  answered(result: EngineResult): void;
}

export interface Engine {
  /** At most two attempts, the second on another replica where there is one. None for a caller who has left. */
  translate(asked: AskedWork, cancellation: Cancellation): void;
  close(): Promise<void>;
}

/** What a replica said of its pairs, or why it did not. */
export interface ReplicaPairs {
  /** Without credentials. */
  readonly url: string;
  readonly pairs: PairTest | AttemptFailure;
}

/** An HTTP answer of an engine: complete, within the size limit. */
export interface EngineResponse {
  readonly status: number;
  /** Whether it repeated the `X-Request-Id` of its call. */
  readonly echoedId?: boolean;
  readonly body: Uint8Array;
  /** The field of that name, if there was one. */
  readonly retryAfter?: string | undefined;
}

export interface EngineCall {
  readonly method: 'GET' | 'POST';
  /** Path and query below the replica's URL. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  /** In place of `body`, where that would be long: written as they are, one after the other. */
  readonly pieces?: readonly Uint8Array[];
}

/** One attempt's way to one replica. It has the attempt's deadline and cancellation built in. */
export interface EngineWire {
  /** Which of a request's two attempts this is. */
  readonly attempt: 1 | 2;
  /** A failure is one of our fixed words; nothing that the engine said is in it. */
  call(call: EngineCall): Promise<EngineResponse | AttemptFailure>;
  /**
   * A call that ends the attempt, without promises, which costs less: the attempt is what `judge` makes of the response, or the
   * call's failure. `attempt` returns what this returns.
   */
  send(call: EngineCall, judge: JudgeResponse): typeof LATER;
}

export type JudgeResponse = (response: EngineResponse, work: EngineWork) => Attempt;

/** What an engine can do. What it cannot do is refused or kept from it, never dropped in silence. */
export interface EngineCapabilities {
  /** Texts that go in one call. */
  readonly textsMax: number;
  readonly formats: readonly TextFormat[];
  readonly formality: boolean;
  /** A hint, which may be left out. */
  readonly context: boolean;
  readonly glossaries: boolean;
  /** Detects the language of a text that comes without one, and reports it. */
  readonly detection: boolean;
  /** Texts of several callers may share a call: none of them can change what becomes of another. */
  readonly sharedCalls: boolean;
}

/** An adapter: tries once, over the wire it is given, and judges the content, never the status alone. */
export interface EngineProtocol<Options extends TSchema = TSchema> {
  /** `options` are those of the configuration, valid, with defaults and secrets filled in. */
  attempt(work: EngineWork, wire: EngineWire, options: Static<Options>): Promise<Attempt | typeof LATER> | typeof LATER;
  /** Schema of `engine.options`, an object; secrets in it are made by `secret`. `headers` is everyone's and not in it. */
  readonly options?: Options;
  /** By default plain text, and every other capability. */
  readonly can?: Partial<EngineCapabilities>;
  /** What the paths of all calls begin with, `/v1`: a replica's URL may end in it or not. */
  readonly pathPrefix?: string;
  /**
   * Asks one replica which pairs it translates: for an engine that can tell. The test is given codes of ours, and answers for
   * those that `attempt` would send for them. A failure leaves what was known before.
   */
  pairs?(wire: Pick<EngineWire, 'call'>, options: Static<Options>): Promise<PairTest | AttemptFailure>;
}
