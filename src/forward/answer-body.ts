// Streams the upstream's answer; fails if it is truncated, stalls, or exceeds the total deadline.
import type { IncomingMessage } from 'node:http';
import type { ByteReceiver, ByteSource } from '../core/byte-stream.ts';

interface AnswerBodyOptions {
  readonly message: IncomingMessage;
  readonly silenceMs: number;
  /** Called at its end: whether it counts as the complete answer to this request. */
  readonly isWhole: () => boolean;
  /** Called once when it is over, however it ended. */
  readonly onOver: () => void;
}

const BODILESS = new Set([204, 304]);

export class AnswerBody implements ByteSource {
  readonly bytes: number | undefined;
  readonly #message: IncomingMessage;
  readonly #silence: Silence;
  readonly #isWhole: () => boolean;
  readonly #onOver: () => void;
  #receiver: ByteReceiver | undefined = undefined;
  #over = false;

  constructor({ message, silenceMs, isWhole, onOver }: AnswerBodyOptions) {
    this.bytes = lengthOf(message);
    this.#message = message;
    this.#isWhole = isWhole;
    this.#onOver = onOver;
    this.#silence = new Silence(silenceMs, () => this.#fail());
    message.on('end', () => this.#end());
    // A truncated answer emits `error`, which would end the process without a listener.
    message.on('error', () => this.#fail());
    message.on('close', () => this.#fail());
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    // In a later turn, because the caller of `open` expects no event before it returns.
    if (this.#over) return void setImmediate(() => receiver.fail('broken'));
    this.#silence.watch();
    this.#message.on('data', (chunk: Buffer) => this.#piece(chunk));
  }

  pause(): void {
    // The silence timeout does not run while a slow caller has paused the answer.
    this.#silence.rest();
    this.#message.pause();
  }

  resume(): void {
    if (this.#over) return;
    this.#silence.watch();
    this.#message.resume();
  }

  cancel(): void {
    if (!this.#finish()) return;
    // An empty body is read to its end, so that its connection can be reused.
    if (this.bytes === 0) this.#message.resume();
    else this.#message.destroy();
  }

  /** The deadline for the whole answer has passed. */
  expire(): void {
    this.#fail();
  }

  #piece(chunk: Buffer): void {
    if (this.#over) return;
    this.#silence.watch();
    this.#receiver!.piece(chunk);
  }

  #end(): void {
    if (!this.#message.complete || this.#over) return;
    if (!this.#isWhole()) this.#fail();
    else if (this.#finish()) this.#receiver?.end();
  }

  #fail(): void {
    if (!this.#finish()) return;
    this.#message.destroy();
    this.#receiver?.fail('broken');
  }

  #finish(): boolean {
    if (this.#over) return false;
    this.#over = true;
    this.#silence.rest();
    this.#onOver();
    return true;
  }
}

function lengthOf({ statusCode = 0, headers }: IncomingMessage): number | undefined {
  if (BODILESS.has(statusCode)) return 0;
  const length = headers['content-length'];
  return length === undefined ? undefined : Number(length);
}

/** A timeout that runs only while waiting for the other side. */
export class Silence {
  readonly #ms: number;
  readonly #onSilence: () => void;
  #timer: NodeJS.Timeout | undefined = undefined;

  constructor(ms: number, onSilence: () => void) {
    this.#ms = ms;
    this.#onSilence = onSilence;
  }

  /** Starts or restarts the timer. */
  watch(): void {
    if (this.#timer === undefined) this.#timer = setTimeout(this.#onSilence, this.#ms);
    else this.#timer.refresh();
  }

  /** Stops the timer, because nobody is being waited for. */
  rest(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
