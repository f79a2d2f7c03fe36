// A raw HTTP/1.1 client for tests: sends exactly the given bytes, reads complete responses, and reports how connections end.
import { connect as connectTcp } from 'node:net';
import type { Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { readResponse } from './raw-response.ts';
import type { HttpResponse } from './raw-response.ts';

export type { HttpResponse } from './raw-response.ts';

interface ConnectOptions {
  readonly port: number;
  readonly host?: string;
  /** Uses TLS and accepts any certificate. */
  readonly tls?: boolean;
  /** Keeps reading when the server has ended its side; default true. */
  readonly allowHalfOpen?: boolean;
}

export interface RawRequest extends ConnectOptions {
  readonly method?: string;
  readonly path?: string;
  /** `Host` and, with a body, `Content-Length` are added if missing. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** How a connection ended, from the client's side. */
type Ending = 'fin' | 'reset';

/** Shorter than a test may take, so that the message says what came. */
const WAIT_MS = 45_000;

/** One connection, one request, one answer. */
export async function request(options: RawRequest): Promise<HttpResponse> {
  const connection = await RawConnection.open(options);
  try {
    connection.send(requestBytes(options));
    return await connection.response({ head: options.method === 'HEAD' });
  } finally {
    connection.destroy();
  }
}

/** The bytes of a well-formed request, for sending on a `RawConnection`, whole or in pieces. */
export function requestBytes({ method = 'GET', path = '/', headers = {}, body }: Omit<RawRequest, 'port'>): Buffer {
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const content = typeof body === 'string' ? Buffer.from(body) : (body ?? new Uint8Array());
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  if (!names.has('host')) lines.unshift('Host: test\r\n');
  const unsized = !names.has('content-length') && !names.has('transfer-encoding');
  if (unsized && (body !== undefined || method === 'POST')) lines.push(`Content-Length: ${content.byteLength}\r\n`);
  return Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'), content]);
}

/** These pieces with `Transfer-Encoding: chunked`. */
export function chunked(...pieces: readonly (string | Uint8Array)[]): Buffer {
  const chunks = pieces.flatMap((piece) => {
    const content = typeof piece === 'string' ? Buffer.from(piece) : piece;
    return [Buffer.from(`${content.byteLength.toString(16)}\r\n`), content, Buffer.from('\r\n')];
  });
  return Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]);
}

export class RawConnection {
  /** Resolves when the server has ended its side or the connection has broken. */
  readonly ended: Promise<Ending>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);
  #ending: Ending | undefined;
  #wake: (() => void) | undefined;

  /** Rejects with the system's error (`ECONNREFUSED`) if nothing listens. */
  static open(options: ConnectOptions): Promise<RawConnection> {
    const { port, host = '127.0.0.1', tls = false, allowHalfOpen = true } = options;
    const socket = tls ? connectTls({ port, host, rejectUnauthorized: false }) : connectTcp({ port, host, allowHalfOpen, noDelay: true });
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.once(tls ? 'secureConnect' : 'connect', () => {
        socket.off('error', reject);
        resolve(new RawConnection(socket));
      });
    });
  }

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake?.();
    });
    this.ended = new Promise((resolve) => {
      const end = (how: Ending): void => {
        this.#ending ??= how;
        resolve(this.#ending);
        this.#wake?.();
      };
      socket.on('end', () => end('fin'));
      socket.on('error', () => end('reset'));
      socket.on('close', () => end('reset'));
    });
  }

  /** Bytes received after the last answer that was read. */
  get unread(): string {
    return this.#received.toString('latin1');
  }

  /** Text is sent as UTF-8. */
  send(bytes: string | Uint8Array): void {
    this.#socket.write(bytes);
  }

  /**
   * Sends each piece separately: a server in this process reads one before the next is written. `gapMs` is for servers
   * in other processes, which can only be given time.
   */
  async sendPieces(pieces: Iterable<string | Uint8Array>, { gapMs = 0 } = {}): Promise<void> {
    for (const piece of pieces) {
      await new Promise<void>((resolve) => {
        this.#socket.write(piece, () => resolve());
      });
      // One turn of the event loop to reach its next poll, one to be sure that the poll is over.
      for (let turn = 0; turn < 3; turn++) await nextTurn();
      if (gapMs > 0) await delay(gapMs);
    }
  }

  /** The next final response; 1xx responses before it are skipped. `head`: it answers a HEAD and has no body. */
  async response({ head = false } = {}): Promise<HttpResponse> {
    for (;;) {
      const read = await this.#until('an answer', () => readResponse(this.#received, head, this.#ending !== undefined));
      this.#received = this.#received.subarray(read.length);
      if (read.response.status >= 200) return read.response;
    }
  }

  /** Waits until the server has sent this text; for incomplete answers, such as `100 Continue`. */
  async seen(text: string): Promise<void> {
    await this.#until(JSON.stringify(text), () => (this.unread.includes(text) ? true : undefined));
  }

  /** Half-closes: the client sends nothing more but keeps reading. */
  finish(): void {
    this.#socket.end();
  }

  /** Resets the connection (RST). */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  async #until<T>(what: string, look: () => T | undefined): Promise<T> {
    const deadline = Date.now() + WAIT_MS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#ending !== undefined) throw new Error(`${this.#saw('the connection ended')} before ${what}`);
      if (Date.now() > deadline) throw new Error(`${this.#saw('nothing further came')} while waiting for ${what}`);
      await this.#more();
    }
  }

  async #more(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
      timer = setTimeout(resolve, WAIT_MS);
    });
    clearTimeout(timer);
    this.#wake = undefined;
  }

  #saw(event: string): string {
    const how = this.#ending === undefined ? '' : ` (${this.#ending})`;
    return `${event}${how} after ${JSON.stringify(this.unread.slice(0, 300))}`;
  }
}
