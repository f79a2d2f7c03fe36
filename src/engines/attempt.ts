// One attempt: runs an adapter against one replica, with a single deadline and the caller's cancellation.
import type { Cancellation } from '../core/exchange.ts';
import { LATER } from '../core/outcome.ts';
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
  Translation,
  UnusableAttempt,
} from '../ports/engine.ts';
import type { Deadlined, Deadlines } from './deadlines.ts';
import type { ConnectionUse, Pool, PoolRequest } from './http1/pool.ts';

export interface AttemptTerms {
  readonly protocol: EngineProtocol;
  /** The protocol's options, validated. */
  readonly options: unknown;
  readonly deadlines: Deadlines;
  /** Called with an error thrown by an adapter, which is a bug in it. The error may quote texts, so do not log it in production. */
  readonly onAdapterError?: ((error: unknown) => void) | undefined;
  readonly onTokens?: ((tokens: EngineTokens) => void) | undefined;
}

/** For work without a caller. */
export const NEVER_LEAVES: Cancellation = { cancelled: false, onCancel: () => undefined };

const NO_CALLS: readonly PoolRequest[] = [];
const LETTER = /\p{L}/u;
/** Anything but white space, control, format and unassigned characters and others without ink; the last one is the Braille blank. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** `echoedIds`: there was at least one answer, and each echoed the `X-Request-Id` of its call. */
export type AttemptDone = (attempt: Attempt, echoedIds: boolean) => void;

/** Failures found in an answer, which are reported with its status. */
const FOUND_IN_ANSWER: readonly AttemptFailure[] = [
  'status',
  'not_json',
  'wrong_shape',
  'cut_off',
  'unsupported_pair',
  'engine_quota',
  'internal',
];
const OK = 200;

/**
 * Runs one attempt to its end. `done` is called once, never before this returns and never after the deadline, whatever the
 * adapter does.
 */
export function attemptOn(
  replica: Pool,
  connection: ConnectionUse,
  work: EngineWork,
  cancellation: Cancellation,
  terms: AttemptTerms,
  done: AttemptDone,
): void {
  new RunningAttempt(replica, connection, work, cancellation, terms, done).run();
}

class RunningAttempt implements EngineWire, Deadlined {
  dueMs = 0;
  earlier: Deadlined | undefined = undefined;
  later: Deadlined | undefined = undefined;
  readonly #replica: Pool;
  readonly #connection: ConnectionUse;
  readonly #work: EngineWork;
  readonly #cancellation: Cancellation;
  readonly #terms: AttemptTerms;
  readonly #done: AttemptDone;
  #calls: readonly PoolRequest[] = NO_CALLS;
  /** Whether every answer so far echoed its id. */
  #echoed: boolean | undefined = undefined;
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
    let running: Promise<Attempt | typeof LATER> | typeof LATER;
    try {
      running = this.#terms.protocol.attempt(this.#work, this, this.#terms.options);
    } catch (error) {
      // Deferred, so that `done` is not called before this returns.
      queueMicrotask(() => this.#broke(error));
      return;
    }
    if (running === LATER) return;
    running.then(
      (attempt) => attempt === LATER || this.#judge(attempt),
      (error: unknown) => this.#broke(error),
    );
  }

  send(call: EngineCall, judge: JudgeResponse): typeof LATER {
    if (this.#ended !== undefined) return LATER;
    let started = false;
    const request = this.#replica.call(
      call,
      this.#connection,
      (result) => {
        // Deferred even if the call was refused at once: `done` is never called before `run` returns.
        if (started) this.#called(judge, result);
        else queueMicrotask(() => this.#called(judge, result));
      },
      this.#asker(),
    );
    started = true;
    this.#calls = this.#calls.length === 0 ? [request] : [...this.#calls, request];
    return LATER;
  }

  #called(judge: JudgeResponse, result: EngineResponse | AttemptFailure): void {
    if (this.#ended !== undefined) return;
    if (typeof result === 'string') {
      this.#fail(result);
      return;
    }
    this.#notice(result);
    let attempt: Attempt;
    try {
      attempt = judge(result, this.#work);
    } catch (error) {
      this.#broke(error);
      return;
    }
    this.#judge(attempt);
  }

  #judge(attempt: Attempt): void {
    let fits: boolean;
    try {
      if (attempt.tokens !== undefined) this.#terms.onTokens?.(attempt.tokens);
      // Callers are charged for every text, so this is checked here for all adapters.
      fits = attempt.kind === 'unusable' || this.#allTranslated(attempt.translations);
    } catch (error) {
      this.#broke(error);
      return;
    }
    if (!fits) this.#fail('wrong_shape');
    else if (attempt.kind === 'unusable') this.#fail(attempt.failure, attempt.cause);
    else this.#end(attempt, 'internal');
  }

  /** One translation per text, each well-formed Unicode. A translation may only be invisible if its text contains no letters. */
  #allTranslated(translations: readonly Translation[]): boolean {
    const { text } = this.#work;
    if (translations.length !== text.length) return false;
    for (let i = 0; i < text.length; i++) {
      const translated = translations[i]!.text;
      if (!translated.isWellFormed()) return false;
      if (!isVisible(translated) && LETTER.test(text[i]!)) return false;
    }
    return true;
  }

  #broke(error: unknown): void {
    this.#fail('internal');
    this.#terms.onAdapterError?.(error);
  }

  get attempt(): 1 | 2 {
    return this.#connection === 'reused' ? 1 : 2;
  }

  call(call: EngineCall): Promise<EngineResponse | AttemptFailure> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended);
    const asker = this.#asker();
    return new Promise((resolve) => {
      const settle = (result: EngineResponse | AttemptFailure): void => {
        if (typeof result !== 'string') this.#notice(result);
        resolve(result);
      };
      this.#calls = [...this.#calls, this.#replica.call(call, this.#connection, settle, asker)];
    });
  }

  #notice({ echoedId = false }: EngineResponse): void {
    this.#echoed = this.#echoed !== false && echoedId;
  }

  /**
   * The id and team of the next call. The first call uses the request's own id; each further one gets its own, so that answers
   * can be matched.
   */
  #asker(): Pick<EngineWork, 'requestId' | 'teamId'> {
    if (this.#calls.length === 0) return this.#work;
    const { requestId, teamId } = this.#work;
    return { requestId: `${requestId}-${this.attempt}-${this.#calls.length + 1}`, teamId };
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
    for (const call of this.#calls) call.stop(failure);
    this.#done(attempt, this.#echoed === true);
  }

  #whatTookSoLong(): AttemptFailure {
    if (this.#calls.some((call) => call.stage === 'sent')) return 'timeout';
    if (this.#calls.some((call) => call.stage === 'connecting')) return 'connect';
    return this.#calls.some((call) => call.stage === 'waiting') ? 'busy' : 'timeout';
  }
}

/** Most texts begin with a visible ASCII character, which a comparison detects. */
function isVisible(text: string): boolean {
  const first = text.charCodeAt(0);
  return (first > 0x20 && first < 0x7f) || VISIBLE.test(text);
}
