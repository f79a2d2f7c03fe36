// A download whose caller stops reading after the head: it is under way until the caller goes on, or leaves.
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { once } from 'node:events';
import { requestBytes } from './raw-http.ts';
import type { RawRequest } from './raw-http.ts';

const MIB = 1_048_576;
/** 4 MiB by default. */
const SEND_BUFFER_MAX = Number(readFileSync('/proc/sys/net/ipv4/tcp_wmem', 'latin1').trim().split(/\s+/)[2]);
/** More than the system keeps for a connection whose other side does not read, and less than a document may have. */
export const UNREAD_BYTES = Math.min(Math.max(2 * SEND_BUFFER_MAX, 8 * MIB), 24 * MIB);

export class HeldDownload {
  readonly #socket: Socket;
  readonly #pieces: Buffer[];

  /** Resolves when the head of the answer has come. */
  static async begin(options: RawRequest): Promise<HeldDownload> {
    const socket = connect({ port: options.port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    const pieces: Buffer[] = [];
    socket.write(requestBytes({ ...options, headers: { ...options.headers, connection: 'close' } }));
    while (!Buffer.concat(pieces).includes('\r\n\r\n')) {
      const [piece] = (await once(socket, 'data')) as [Buffer];
      pieces.push(piece);
      socket.pause();
      if (!Buffer.concat(pieces).includes('\r\n\r\n')) socket.resume();
    }
    return new HeldDownload(socket, pieces);
  }

  private constructor(socket: Socket, pieces: Buffer[]) {
    this.#socket = socket;
    this.#pieces = pieces;
  }

  /** The status line. */
  get status(): number {
    return Number(this.#pieces[0]!.toString('latin1', 9, 12));
  }

  /** Reads the rest; resolves with the length of the body. */
  async finish(): Promise<number> {
    this.#socket.on('data', (piece: Buffer) => this.#pieces.push(piece));
    const ended = once(this.#socket, 'end');
    this.#socket.resume();
    await ended;
    this.#socket.destroy();
    const whole = Buffer.concat(this.#pieces);
    return whole.length - whole.indexOf('\r\n\r\n') - 4;
  }

  leave(): void {
    this.#socket.resetAndDestroy();
  }
}
