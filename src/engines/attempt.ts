// One attempt: runs an adapter against one replica, with a single deadline and the caller's cancellation. Attempts with equal
// deadlines share a timer.
import { performance } from 'node:perf_hooks';
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
  JudgeResponse,
  UnusableAttempt,
} from '../ports/engine.ts';
import { checkForm, MalformedAttempt, translationsFault } from './attempt-judgement.ts';
import type { ConnectionUse, Pool, PoolRequest } from './http1/pool.ts';

export interface AttemptTerms {
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated. */
  readonly options: unknown;
  readonly deadlines: Deadlines;
  readonly onTokens?: ((tokens: EngineTokens) => void) | undefined;
}

const NO_CALLS: readonly PoolRequest[] = [];
/**
 * An attempt with a longer answer goes on in turns of its own, one to parse it and one for everything after that: each takes up to
 * ten milliseconds for each MiB.
 */
const LONG_BYTES = 131_072;

/** `echoedIds`: there was at least one answer, and each echoed the `X-Request-Id` of its call. */
type AttemptDone = (attempt: Attempt, echoedIds: boolean) => void;

/** Failures found in an answer, which are reported with its status. */
const FOUND_IN_ANSWER: readonly AttemptFailure[] = [
  'status',
  'too_large',
  'not_json',
  'wrong_shape',
  'cut_off',
  'unsupported_pair',
  'no_detection',
  'glossary_refused',
  'file_refused',
  'engine_quota',
  'internal',
];
const OK = 200;

/** One attempt. `done` is called once, never before `run` returns and never after the deadline, whatever the adapter does. */
export class RunningAttempt implements EngineWire, Deadlined {
  dueMs = 0;
  readonly #replica: Pool;
  readonly #connection: ConnectionUse;
  readonly #work: EngineWork;
  readonly #cancellation: Cancellation;
  readonly #terms: AttemptTerms;
  readonly #done: AttemptDone;
  #calls: readonly PoolRequest[] = NO_CALLS;
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
    terms.deadlines.add(this);
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
        (attempt) => (attempt === LATER ? this.#expectCall() : this.#judge(attempt)),
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
    if (this.#ended !== undefined) return LATER;
    let started = false;
    // Creates no functions itself, as those would cost every answer.
    const settle = (result: EngineResponse | AttemptFailure): void => {
      if (started) this.#settled(result, judge);
      else this.#refusedAtOnce(result, judge);
    };
    const request = this.#replica.call(call, this.#connection, settle, this.#asker());
    started = true;
    this.#calls = this.#calls.length === 0 ? [request] : [...this.#calls, request];
    return LATER;
  }

  /** `done` is never called before `run` returns. */
  #refusedAtOnce(result: EngineResponse | AttemptFailure, judge: JudgeResponse): void {
    queueMicrotask(() => this.#settled(result, judge));
  }

  #settled(result: EngineResponse | AttemptFailure, judge: JudgeResponse): void {
    if (this.#ended !== undefined) return;
    if (typeof result === 'string') this.#fail(result);
    else if (this.#takesLong(result)) this.#inOwnTurns(result, judge);
    else this.#judgeAnswer(result, judge);
  }

  #inOwnTurns(response: EngineResponse, judge: JudgeResponse): void {
    inOwnTurn(() => this.#judgeAnswer(response, judge));
  }

  #takesLong({ body }: EngineResponse): boolean {
    if (body.length > LONG_BYTES) this.#long = true;
    return body.length > LONG_BYTES;
  }

  #judgeAnswer(response: EngineResponse, judge: JudgeResponse): void {
    if (this.#ended !== undefined) return;
    let attempt: Attempt;
    try {
      attempt = judge(response, this.#work);
    } catch (error) {
      this.#broke(error);
      return;
    }
    this.#judge(attempt);
  }

  #judge(attempt: Attempt): void {
    if (this.#long) this.#concludeInOwnTurn(attempt);
    else this.#conclude(attempt);
  }

  #concludeInOwnTurn(attempt: Attempt): void {
    inOwnTurn(() => this.#conclude(attempt));
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
    this.#end({ ...this.#detailed('internal', undefined), thrown: error }, 'internal');
  }

  get replica(): object {
    return this.#replica;
  }

  get attempt(): 1 | 2 {
    return this.#connection === 'reused' ? 1 : 2;
  }

  call(call: EngineCall): Promise<EngineResponse | AttemptFailure> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended);
    const asker = this.#asker();
    return new Promise((resolve) => {
      const settle = (result: EngineResponse | AttemptFailure): void => {
        if (typeof result === 'string' || !this.#takesLong(result)) resolve(result);
        else inOwnTurn(() => resolve(result));
      };
      this.#calls = [...this.#calls, this.#replica.call(call, this.#connection, settle, asker)];
    });
  }

  /**
   * The id and team of the next call. The first call uses the request's own id; each further one gets its own, so that answers
   * can be matched.
   */
  #asker(): Pick<EngineWork, 'requestId' | 'teamId'> {
    if (this.#calls.length === 0) return this.#work;
    const { requestId, teamId } = this.#work;
    return { requestId: furtherCallId(requestId, this.attempt, this.#calls.length + 1), teamId };
  }

  deadlinePassed(): void {
    const failure = this.#whatTookSoLong();
    this.#fail(failure, failure === 'connect' ? 'silent' : undefined);
  }

  #fail(failure: AttemptFailure, cause?: FailureCause): void {
    if (this.#ended !== undefined) return;
    this.#end(this.#detailed(failure, cause), failure);
  }

  /** Adds what the calls observed; adapters only report the kind of failure. */
  #detailed(failure: AttemptFailure, cause: FailureCause | undefined): UnusableAttempt {
    if (failure === 'connect') {
      return { kind: 'unusable', failure, cause: cause ?? this.#calls.find((call) => call.cause !== undefined)?.cause };
    }
    if (!FOUND_IN_ANSWER.includes(failure)) return { kind: 'unusable', failure, cause };
    const answered = this.#calls.filter((call) => call.status !== undefined);
    const guilty = answered.find((call) => call.status !== OK) ?? answered.at(-1);
    return { kind: 'unusable', failure, cause, status: guilty?.status, retryAfter: guilty?.retryAfter };
  }

  #end(attempt: Attempt, failure: AttemptFailure): void {
    if (this.#ended !== undefined) return;
    this.#ended = failure;
    this.#terms.deadlines.remove(this);
    this.#cancellation.onCancel(undefined);
    // Includes calls that the adapter did not await: no connection may be held after the end of the attempt.
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

interface Deadlined {
  dueMs: number;
  /** Called once when the deadline passes, unless `remove` was called before. */
  deadlinePassed(): void;
}

/** Deadlines of equal duration. One timer for all: most attempts end long before theirs, and a timer for each would cost more. */
export class Deadlines {
  readonly #afterMs: number;
  readonly #onTimer = (): void => this.#expire();
  /** In the order in which they are due. */
  readonly #waiting = new Set<Deadlined>();
  #timer: NodeJS.Timeout | undefined = undefined;
  #turn: NodeJS.Immediate | undefined = undefined;

  constructor(afterMs: number) {
    this.#afterMs = afterMs;
  }

  add(one: Deadlined): void {
    one.dueMs = performance.now() + this.#afterMs;
    this.#waiting.add(one);
    this.#timer ??= setTimeout(this.#onTimer, this.#afterMs).unref();
  }

  /** Leaves the timer running: when it fires, only entries that are due count, and without any it is not restarted. */
  remove(one: Deadlined): void {
    this.#waiting.delete(one);
  }

  /** No remaining deadline will fire. */
  close(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#turn);
    this.#timer = undefined;
  }

  #expire(): void {
    // Either the timer or the immediate called this; the other must not fire as well.
    this.close();
    const [one] = this.#waiting;
    if (one === undefined) return;
    const leftMs = one.dueMs - performance.now();
    if (leftMs > 0) {
      this.#timer = setTimeout(this.#onTimer, Math.ceil(leftMs)).unref();
      return;
    }
    this.remove(one);
    one.deadlinePassed();
    // One per turn of the event loop: ending this one may start the next waiting call too late, which must be known before that
    // one's own deadline.
    if (this.#waiting.size > 0) this.#turn = setImmediate(this.#onTimer);
  }
}
