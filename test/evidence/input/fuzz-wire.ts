// A socket for malformed input: writes any bytes, leaves politely or not, and never throws.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';

export class Wire {
  readonly #socket: Socket;
  readonly #over: Promise<boolean>;
  readonly #answered: Promise<void>;
  received = Buffer.alloc(0);

  static open(port: number, localAddress: string): Promise<Wire | undefined> {
    const socket = connect({ port, host: '127.0.0.1', localAddress, allowHalfOpen: true, noDelay: true });
    return new Promise((resolve) => {
      socket.once('connect', () => resolve(new Wire(socket)));
      socket.once('error', () => resolve(undefined));
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    const first = Promise.withResolvers<void>();
    const last = Promise.withResolvers<boolean>();
    this.#answered = first.promise;
    this.#over = last.promise;
    const end = (): void => {
      first.resolve();
      last.resolve(true);
    };
    socket.on('data', (chunk: Buffer) => {
      this.received = Buffer.concat([this.received, chunk]);
      first.resolve();
    });
    socket.on('end', end);
    socket.on('error', end);
    socket.on('close', end);
  }

  async send(pieces: readonly string[]): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await nextTurn();
      this.#socket.write(piece, 'latin1');
    }
  }

  async answered(withinMs: number): Promise<void> {
    await Promise.race([this.#answered, delay(withinMs)]);
  }

  async over(withinMs: number): Promise<boolean> {
    const giveUp = new AbortController();
    const late = delay(withinMs, false, { signal: giveUp.signal }).catch(() => false);
    const over = await Promise.race([this.#over, late]);
    giveUp.abort();
    return over;
  }

  end(): void {
    this.#socket.end();
  }

  reset(): void {
    this.#socket.resetAndDestroy();
  }
}
