// Writes an answer as it comes on node:http.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { StreamWriter, WriterEvents } from './streamed-answer.ts';

/** The head has been written. */
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

  /** By a reset: an answer without a length would look complete to HTTP/1.0. With TLS a missing close_notify shows it. */
  cut(): void {
    if (this.#socket instanceof TLSSocket) this.#socket.destroy();
    else this.#socket.resetAndDestroy();
  }

  stop(): void {
    // There is nothing to undo: events of the response that still come are ignored.
  }
}
