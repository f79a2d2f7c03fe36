// When the ledger's operations that wait are sent: at the end of a turn of the event loop, or behind the reply to a call that is out.
import { SETTLE_LINGER_MS } from '../../domain/reservation.ts';

export interface CallPacingOptions {
  /** Sends all that waits; has to call `called` and `ended` for every call. */
  readonly send: () => void;
  /** With so many waiting a call is full and is sent at once. */
  readonly operationsMax: number;
  /** Whether a call waits for the reply to the one before it. */
  readonly oneAtATime: boolean;
}

/**
 * How long a call whose reply is late may keep others from going, in milliseconds. Timers count whole milliseconds from the
 * beginning of a turn: mostly it is less.
 */
const BEHIND_MS_MAX = 1;

/**
 * A few large calls cost server and gateway less than many small ones. While a call is out, Redis, which runs one script at a
 * time, could not begin another one anyway: so operations wait here and are sent together. With no call out nothing waits.
 */
export class CallPacing {
  readonly #options: CallPacingOptions;
  #waiting = 0;
  /** Calls whose reply has not come. */
  #out = 0;
  #turn: NodeJS.Immediate | undefined = undefined;
  /** Runs while resolutions wait for an admission. */
  #linger: NodeJS.Timeout | undefined = undefined;
  /** Runs while admissions wait for a reply. */
  #behind: NodeJS.Timeout | undefined = undefined;

  constructor(options: CallPacingOptions) {
    this.#options = options;
  }

  /** One more admission waits to be sent, and a caller waits for its answer. */
  admissionWaits(): void {
    this.#waiting++;
    if (this.#behind !== undefined) this.#goIfFull();
    // After all input of this turn has been read: its requests go together, and a single one does not wait.
    else this.#turn ??= setImmediate(this.#turnEnds);
  }

  /** One more resolution waits. No caller waits for its answer, so it goes with an admission, or after `SETTLE_LINGER_MS`. */
  resolutionWaits(): void {
    this.#waiting++;
    if (this.#behind !== undefined) this.#goIfFull();
    else if (this.#turn === undefined) this.#linger ??= setTimeout(this.#now, SETTLE_LINGER_MS);
  }

  sendNow(): void {
    clearImmediate(this.#turn);
    clearTimeout(this.#linger);
    clearTimeout(this.#behind);
    this.#turn = this.#linger = this.#behind = undefined;
    this.#waiting = 0;
    this.#options.send();
  }

  /** A call is out. */
  called(): void {
    this.#out++;
  }

  /** Its reply has come, or will not come any more. */
  ended(): void {
    this.#out--;
    if (this.#out === 0 && this.#behind !== undefined) this.#turn ??= setImmediate(this.#turnEnds);
  }

  readonly #now = (): void => this.sendNow();

  readonly #turnEnds = (): void => {
    this.#turn = undefined;
    if (this.#out === 0 || !this.#options.oneAtATime) return this.sendNow();
    this.#behind ??= setTimeout(this.#now, BEHIND_MS_MAX);
    this.#goIfFull();
  };

  #goIfFull(): void {
    if (this.#waiting >= this.#options.operationsMax) this.sendNow();
  }
}
