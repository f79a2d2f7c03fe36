// The upstream's answer as it comes, watched: what is cut short, silent or too slow in all fails.
import type { IncomingMessage } from 'node:http';
import type { ByteReceiver, ByteSource } from '../core/byte-stream.ts';
import { Silence } from './silence.ts';

export interface AnswerBodyOptions {
  readonly message: IncomingMessage;
  readonly silenceMs: number;
  /** Called once, when it is over, however it ended. */
  readonly onOver: () => void;
}

const BODILESS = new Set([204, 304]);

export class AnswerBody implements ByteSource {
  readonly bytes: number | undefined;
  readonly #message: IncomingMessage;
  readonly #silence: Silence;
  readonly #onOver: () => void;
  #receiver: ByteReceiver | undefined = undefined;
  #over = false;

  constructor({ message, silenceMs, onOver }: AnswerBodyOptions) {
    this.bytes = lengthOf(message);
    this.#message = message;
    this.#onOver = onOver;
    this.#silence = new Silence(silenceMs, () => this.#fail());
    message.on('end', () => this.#end());
    // One that was cut short is told by an error; without a listener the process would end by it.
    message.on('error', () => this.#fail());
    message.on('close', () => this.#fail());
  }

  open(receiver: ByteReceiver): void {
    this.#receiver = receiver;
    // In a later turn: the caller of `open` expects no event before it returns.
    if (this.#over) return void setImmediate(() => receiver.fail());
    this.#silence.watch();
    this.#message.on('data', (chunk: Buffer) => this.#piece(chunk));
  }

  pause(): void {
    // While a slow caller has it paused, the time of the upstream's silence does not run.
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
    // Read to its end, its connection serves the next request.
    if (this.bytes === 0) this.#message.resume();
    else this.#message.destroy();
  }

  /** It has taken too long, all in all. */
  expire(): void {
    this.#fail();
  }

  #piece(chunk: Buffer): void {
    if (this.#over) return;
    this.#silence.watch();
    this.#receiver!.piece(chunk);
  }

  #end(): void {
    if (this.#message.complete && this.#finish()) this.#receiver?.end();
  }

  #fail(): void {
    if (!this.#finish()) return;
    this.#message.destroy();
    this.#receiver?.fail();
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
