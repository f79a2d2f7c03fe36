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
  /** Of a known length. */
  #bytesLeft: number | undefined;

  constructor(socket: Socket, res: ServerResponse, events: WriterEvents, bytes: number | undefined) {
    this.#socket = socket;
    this.#res = res;
    this.#events = events;
    this.#bytesLeft = bytes;
  }

  /** Ends with the last byte of a known length: a caller who has it may close the connection before the source says that it was the last. */
  put(bytes: Uint8Array): boolean {
    if (this.#bytesLeft !== undefined) this.#bytesLeft -= bytes.byteLength;
    if (this.#bytesLeft === 0) {
      this.#end(bytes);
      return true;
    }
    if (this.#res.write(bytes)) return true;
    this.#res.once('drain', () => this.#events.writable());
    return false;
  }

  finish(): void {
    if (!this.#res.writableEnded) this.#end();
  }

  #end(last?: Uint8Array): void {
    this.#res.once('finish', () => this.#events.delivered());
    this.#res.end(last);
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
