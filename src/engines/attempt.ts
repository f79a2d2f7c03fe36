// Calls to one replica. An attempt: an adapter runs with a single deadline and the caller's
// cancellation, and what it returned is judged before anything is charged for it. And what no
// request asks for: pairs, a trial, dictionaries, and files.
import type { Cancellation } from '../core/exchange.ts';
import { LATER } from '../core/outcome.ts';
import { inOwnTurn } from '../core/turns.ts';
import { furtherCallId } from '../domain/ulid.ts';
import type {
  Attempt,
  AttemptFailure,
  EngineCall,
  EngineProtocol,
  EngineResponse,
  EngineTokens,
  EngineWire,
  EngineWork,
  FailureCause,
  FailureDetail,
  JudgeResponse,
  ReplicaWire,
  Translation,
  UnusableAttempt,
} from '../ports/engine.ts';
import type { ConnectionUse, Pool, PoolRequest } from './http1/pool.ts';
import { ATTEMPT_FAILURES, meaningOf } from '../domain/attempt-failure.ts';

export interface AttemptTerms {
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated. */
  readonly options: unknown;
  readonly timeoutMs: number;
  readonly onTokens?: ((tokens: EngineTokens) => void) | undefined;
}

/**
 * A longer answer is parsed, and then judged, in turns of its own: each takes up to ten
 * milliseconds a MiB.
 */
const LONG_BYTES = 131_072;

/** `echoedIds`: there was at least one answer, and each echoed the `X-Request-Id` of its call. */
type AttemptDone = (attempt: Attempt, echoedIds: boolean) => void;

const OK = 200;

/** `done` is called once, not before `run` returns and not after the deadline. */
export class RunningAttempt implements EngineWire {
  readonly #replica: Pool;
  readonly #connection: ConnectionUse;
  readonly #work: EngineWork;
  readonly #cancellation: Cancellation;
  readonly #terms: AttemptTerms;
  readonly #done: AttemptDone;
  readonly #deadline: NodeJS.Timeout;
  readonly #calls: PoolRequest[] = [];
  /** There was a long answer. */
  #long = false;
  /** The adapter has made its last call, whose answer ends the attempt. */
  #sent = false;
  /** The failure for further calls; set when the attempt has ended. */
  #ended: AttemptFailure | undefined = undefined;

  constructor(
    replica: Pool,
    connection: ConnectionUse,
    work: EngineWork,
    cancellation: Cancellation,
    terms: AttemptTerms,
    done: AttemptDone,
  ) {
    this.#replica = replica;
    this.#connection = connection;
    this.#work = work;
    this.#cancellation = cancellation;
    this.#terms = terms;
    this.#done = done;
    // A turn later: after a pause of this process, answers are read before anybody is given up.
    this.#deadline = setTimeout(() => setImmediate(() => this.#expire()), terms.timeoutMs).unref();
    cancellation.onCancel(() => this.#fail('cancelled'));
  }

  /** The only place that turns an adapter's promise into a callback. */
  run(): void {
    try {
      const running = this.#terms.protocol.attempt(this.#work, this, this.#terms.options);
      if (running === LATER) {
        this.#expectCall();
        return;
      }
      if (typeof (running as Partial<typeof running> | undefined)?.then !== 'function')
        throw new MalformedAttempt('attempt: is no promise');
      running.then(
        (attempt) => (attempt === LATER ? this.#expectCall() : this.#judge(() => attempt)),
        (error: unknown) => this.#broke(error),
      );
    } catch (error) {
      // Deferred, so that `done` is not called before this returns.
      queueMicrotask(() => this.#broke(error));
    }
  }

  /** Without a call, nothing would ever come later. */
  #expectCall(): void {
    if (!this.#sent) queueMicrotask(() => this.#broke(new MalformedAttempt('attempt: is LATER without send')));
  }

  send(call: EngineCall, judge: JudgeResponse): typeof LATER {
    this.#sent = true;
    if (this.#ended === undefined) {
      this.#start(call, (result) => {
        if (typeof result === 'string') this.#fail(result);
        else if (this.#ended === undefined) this.#judge(() => judge(result, this.#work));
      });
    }
    return LATER;
  }

  call(call: EngineCall): Promise<EngineResponse | AttemptFailure> {
    return this.#ended === undefined ? new Promise((resolve) => this.#start(call, resolve)) : Promise.resolve(this.#ended);
  }

  #start(call: EngineCall, settled: (result: EngineResponse | AttemptFailure) => void): void {
    let started = false;
    const settle = (result: EngineResponse | AttemptFailure): void => {
      // A call may be refused at once; `done` is never called before `run` returns.
      if (!started) return queueMicrotask(() => settled(result));
      if (typeof result === 'string' || result.body.length <= LONG_BYTES) return settled(result);
      this.#long = true;
      return inOwnTurn(() => settled(result));
    };
    const request = this.#replica.call(call, this.#connection, settle, askerOf(this.#work, this.attempt, this.#calls));
    started = true;
    this.#calls.push(request);
  }

  #judge(attemptOf: () => Attempt): void {
    let attempt: Attempt;
    try {
      attempt = attemptOf();
    } catch (error) {
      return this.#broke(error);
    }
    if (this.#long) inOwnTurn(() => this.#conclude(attempt));
    else this.#conclude(attempt);
  }

  #conclude(attempt: Attempt): void {
    let fault: AttemptFailure | undefined;
    try {
      checkForm(attempt);
      if (attempt.tokens !== undefined) this.#terms.onTokens?.(attempt.tokens);
      // Callers are charged for every text, so this is checked here for all adapters.
      if (attempt.kind === 'usable') fault = translationsFault(attempt.translations, this.#work.text, this.#replica.responseBytesMax);
    } catch (error) {
      this.#broke(error);
      return;
    }
    if (fault !== undefined) this.#fail(fault);
    else if (attempt.kind === 'unusable') this.#fail(attempt.failure, attempt.cause);
    else this.#end(attempt, 'internal');
  }

  #broke(error: unknown): void {
    this.#end({ ...detailed('internal', undefined, this.#calls), thrown: error }, 'internal');
  }

  get replica(): object {
    return this.#replica;
  }

  get attempt(): 1 | 2 {
    return this.#connection === 'reused' ? 1 : 2;
  }

  #expire(): void {
    if (this.#ended !== undefined) return;
    const failure = this.#whatTookSoLong();
    this.#fail(failure, failure === 'connect' ? 'silent' : undefined);
  }

  #fail(failure: AttemptFailure, cause?: FailureCause): void {
    if (this.#ended !== undefined) return;
    this.#end(detailed(failure, cause, this.#calls), failure);
  }

  #end(attempt: Attempt, failure: AttemptFailure): void {
    if (this.#ended !== undefined) return;
    this.#ended = failure;
    clearTimeout(this.#deadline);
    this.#cancellation.onCancel(undefined);
    // With calls that the adapter did not await: no connection is held after the attempt.
    let answers = 0;
    let echoes = 0;
    for (const call of this.#calls) {
      call.stop(failure);
      if (call.status !== undefined) answers++;
      if (call.echoedId) echoes++;
    }
    this.#done(attempt, answers > 0 && echoes === answers);
  }

  #whatTookSoLong(): AttemptFailure {
    if (this.#calls.some((call) => call.stage === 'sent')) return 'timeout';
    if (this.#calls.some((call) => call.stage === 'connecting')) return 'connect';
    return this.#calls.some((call) => call.stage === 'waiting') ? 'busy' : 'timeout';
  }
}

/** Whoever calls are for: their ids and turns. */
type CallOwner = Pick<EngineWork, 'requestId' | 'teamId'>;

/**
 * Of the call after these. The first has the request's own id, if there is one; further ones get
 * their own, so that answers can be matched.
 */
function askerOf(owner: CallOwner, attempt: 1 | 2, calls: readonly PoolRequest[]): CallOwner {
  if (calls.length === 0 || owner.requestId === '') return owner;
  const { requestId, teamId } = owner;
  return { requestId: furtherCallId(requestId, attempt, calls.length + 1), teamId };
}

/** Adds what the calls observed; adapters only report the kind of failure. */
function detailed(failure: AttemptFailure, cause: FailureCause | undefined, calls: readonly PoolRequest[]): UnusableAttempt {
  if (failure === 'connect') {
    return { kind: 'unusable', failure, cause: cause ?? calls.find((call) => call.cause !== undefined)?.cause };
  }
  if (meaningOf(failure).inAnswer !== true) return { kind: 'unusable', failure, cause };
  const answered = calls.filter((call) => call.status !== undefined);
  const guilty = answered.find((call) => call.status !== OK) ?? answered.at(-1);
  return { kind: 'unusable', failure, cause, status: guilty?.status, retryAfter: guilty?.retryAfter };
}

interface ReplicaCallTerms {
  readonly signal?: AbortSignal;
  /** Who the calls are for: their ids and trace. By default nobody. */
  readonly caller?: Pick<EngineWork, 'requestId' | 'teamId' | 'traceparent'>;
  /** Which of the caller's two attempts this is. */
  readonly attempt?: 1 | 2;
  /** The limit of each call that neither sends nor gets a file. */
  readonly questionMs?: number;
}

/** Runs calls to a replica without a caller, within a time limit. Never rejects. */
export async function askReplica<Result>(
  replica: Pool,
  withinMs: number,
  run: (wire: ReplicaWire) => Promise<Result | AttemptFailure>,
  { signal, caller = { requestId: '', traceparent: undefined }, attempt = 1, questionMs = withinMs }: ReplicaCallTerms = {},
): Promise<Exclude<Result, string> | FailureDetail> {
  const { requestId, teamId, traceparent } = caller;
  const calls: PoolRequest[] = [];
  let ended = false;
  const wire: ReplicaWire = {
    replica,
    async call(call) {
      if (ended) return 'cancelled';
      const { promise, resolve } = Promise.withResolvers<EngineResponse | AttemptFailure>();
      const headers = traceparent === undefined ? call.headers : { ...call.headers, traceparent };
      const request = replica.call({ ...call, headers }, 'fresh', resolve, askerOf({ requestId, teamId }, attempt, calls));
      calls.push(request);
      const isOfFile = call.pieces !== undefined || call.answerBytesMax !== undefined;
      const tooLong = isOfFile ? undefined : setTimeout(() => request.stop('timeout'), questionMs);
      const result = await promise;
      clearTimeout(tooLong);
      return result;
    },
  };
  const cutOff = Promise.withResolvers<'timeout' | 'cancelled'>();
  const timer = setTimeout(() => cutOff.resolve('timeout'), withinMs);
  const cancel = (): void => cutOff.resolve('cancelled');
  signal?.addEventListener('abort', cancel);
  if (signal?.aborted === true) cancel();
  try {
    const result = await Promise.race([run(wire), cutOff.promise]);
    if (typeof result !== 'string') return result as Exclude<Result, string>;
    const { failure, status, cause } = detailed(result as AttemptFailure, undefined, calls);
    return { failure, status, cause };
  } catch (thrown) {
    return { failure: 'internal', thrown };
  } finally {
    ended = true;
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
    for (const call of calls) call.stop('cancelled');
  }
}

/** An adapter returned what is no attempt: a bug of the adapter. The message is in fixed words. */
export class MalformedAttempt extends Error {
  override readonly name = 'MalformedAttempt';
}

const LETTER = /\p{L}/u;
/**
 * Anything but white space, control, format and unassigned characters, and others without ink; the
 * last one is the Braille blank.
 */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Throws a `MalformedAttempt` without an attempt's form; its translations are judged later. */
function checkForm(attempt: Attempt): void {
  const given: unknown = attempt;
  if (typeof given !== 'object' || given === null) throw new MalformedAttempt('the attempt is not an object');
  const { kind, failure, translations, tokens } = given as { readonly [name in 'kind' | 'failure' | 'translations' | 'tokens']?: unknown };
  if (kind === 'usable') {
    if (!Array.isArray(translations)) throw new MalformedAttempt('translations: is not a list');
  } else if (kind !== 'unusable') {
    throw new MalformedAttempt('kind: is neither usable nor unusable');
  } else if (typeof failure !== 'string' || !Object.hasOwn(ATTEMPT_FAILURES, failure)) {
    throw new MalformedAttempt('failure: is not one of the words for failures');
  }
  if (tokens !== undefined && !areTokens(tokens)) throw new MalformedAttempt('tokens: are not two numbers');
}

function areTokens(tokens: unknown): boolean {
  const { prompt, completion } = (tokens ?? {}) as { readonly prompt?: unknown; readonly completion?: unknown };
  return isCount(prompt) && isCount(completion);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Infinity;
}

/**
 * What is wrong with these translations, for which callers are charged. Throws a `MalformedAttempt`
 * for one without a text. `unitsMax`: for all together.
 */
function translationsFault(
  translations: readonly Translation[],
  text: readonly string[],
  unitsMax: number,
): 'wrong_shape' | 'too_large' | undefined {
  if (translations.length !== text.length) return 'wrong_shape';
  let units = 0;
  for (let i = 0; i < text.length; i++) {
    const translated: unknown = (translations[i] as Translation | undefined | null)?.text;
    if (typeof translated !== 'string') throw new MalformedAttempt('translations: one has no text');
    units += translated.length;
    if (units > unitsMax) return 'too_large';
    if (!translated.isWellFormed()) return 'wrong_shape';
    // Most texts begin with a visible ASCII character, which a comparison detects.
    const first = translated.charCodeAt(0);
    const visible = (first > 0x20 && first < 0x7f) || VISIBLE.test(translated);
    if (!visible && LETTER.test(text[i]!)) return 'wrong_shape';
  }
  return undefined;
}
