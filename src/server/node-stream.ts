// Writes a streamed answer on node:http.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { StreamWriter, WriterEvents } from './streamed-answer.ts';

/** Created after the head has been written. */
export class NodeStream implements StreamWriter {
  readonly #socket: Socket;
  readonly #res: ServerResponse;
  readonly #events: WriterEvents;

  constructor(socket: Socket, res: ServerResponse, events: WriterEvents) {
    this.#socket = socket;
    this.#res = res;
    this.#events = events;
  }

  put(bytes: Uint8Array): boolean {
    if (this.#res.write(bytes)) return true;
    this.#res.once('drain', () => this.#events.writable());
    return false;
  }

  finish(): void {
    this.#res.once('finish', () => this.#events.delivered());
    this.#res.end();
  }

  /**
   * Resets the connection: to HTTP/1.0, an answer without a length would look complete. With TLS the missing close_notify
   * reveals it.
   */
  cut(): void {
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  stop(): void {
    // Nothing to undo: later events of the response are ignored.
  }
}
