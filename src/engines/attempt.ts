// One attempt: an adapter at work on one replica, under one deadline and the caller's cancellation.
import type { Cancellation } from '../core/exchange.ts';
import type { Attempt, AttemptFailure, EngineCall, EngineProtocol, EngineResponse, EngineWire, EngineWork } from '../ports/engine.ts';
import type { Connection, ReplicaWire, WireCall } from './wire.ts';

export interface AttemptTerms {
  readonly protocol: EngineProtocol;
  readonly timeoutMs: number;
  /** Told what an adapter threw, which is a bug in the adapter. It may quote texts: not for a log in production. */
  readonly onAdapterError?: ((error: unknown) => void) | undefined;
}

/** Runs one attempt to its end. Never rejects, and never outlives the deadline, whatever the adapter does. */
export function attemptOn(
  replica: ReplicaWire,
  connection: Connection,
  work: EngineWork,
  cancellation: Cancellation,
  terms: AttemptTerms,
): Promise<Attempt> {
  return new Promise((resolve) => {
    const attempt = new RunningAttempt(replica, connection, cancellation, terms, resolve);
    void attempt.run(work);
  });
}

class RunningAttempt implements EngineWire {
  readonly #replica: ReplicaWire;
  readonly #connection: Connection;
  readonly #cancellation: Cancellation;
  readonly #terms: AttemptTerms;
  readonly #resolve: (attempt: Attempt) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #calls: WireCall[] = [];
  /** Why further calls are refused; set when the attempt has ended. */
  #ended: AttemptFailure | undefined = undefined;

  constructor(
    replica: ReplicaWire,
    connection: Connection,
    cancellation: Cancellation,
    terms: AttemptTerms,
    resolve: (attempt: Attempt) => void,
  ) {
    this.#replica = replica;
    this.#connection = connection;
    this.#cancellation = cancellation;
    this.#terms = terms;
    this.#resolve = resolve;
    this.#timer = setTimeout(runOut, terms.timeoutMs, this);
    cancellation.onCancel(() => this.#fail('cancelled'));
  }

  async run(work: EngineWork): Promise<void> {
    try {
      const attempt = await this.#terms.protocol.attempt(work, this);
      if (attempt.kind === 'unusable') this.#fail(attempt.failure);
      // Callers are charged by the number of texts, so this one check is not left to adapters alone.
      else if (attempt.translations.length !== work.text.length) this.#fail('wrong_shape');
      else this.#end(attempt, 'internal');
    } catch (error) {
      this.#fail('internal');
      this.#terms.onAdapterError?.(error);
    }
  }

  call(call: EngineCall): Promise<EngineResponse | AttemptFailure> {
    if (this.#ended !== undefined) return Promise.resolve(this.#ended);
    return new Promise((resolve) => {
      this.#calls.push(this.#replica.call(call, this.#connection, resolve));
    });
  }

  deadlinePassed(): void {
    this.#fail(this.#whatTookSoLong());
  }

  #fail(failure: AttemptFailure): void {
    this.#end({ kind: 'unusable', failure }, failure);
  }

  #end(attempt: Attempt, failure: AttemptFailure): void {
    if (this.#ended !== undefined) return;
    this.#ended = failure;
    clearTimeout(this.#timer);
    this.#cancellation.onCancel(undefined);
    // Also what a hasty adapter left open behind it: nothing may hold a connection once the attempt is over.
    for (const call of this.#calls) call.stop(failure);
    this.#resolve(attempt);
  }

  #whatTookSoLong(): AttemptFailure {
    if (this.#calls.some((call) => call.stage === 'sent')) return 'timeout';
    if (this.#calls.some((call) => call.stage === 'connecting')) return 'connect';
    return this.#calls.some((call) => call.stage === 'waiting') ? 'busy' : 'timeout';
  }
}

/** A function of its own with the attempt as the timer's argument: no closure per attempt. */
function runOut(attempt: RunningAttempt): void {
  attempt.deadlinePassed();
}
