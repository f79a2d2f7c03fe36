// One connection to a replica, with one request at a time, and how a call becomes its bytes. An
// ambiguous answer closes the connection.
import type { Socket } from 'node:net';
import type { AttemptFailure, EngineCall, FailureCause } from '../../ports/engine.ts';
import { connectCauseOf } from './origin.ts';
import type { Origin } from './origin.ts';
import type { Pool, PoolRequest } from './pool.ts';
import { ResponseParser } from './response-parser.ts';

/**
 * Shared, because data is parsed before anything else is read: recently written memory is in the
 * processor's cache, and idle connections need no buffer.
 */
const readBuffer = Buffer.allocUnsafeSlow(65_536);

const NOWHERE = { inFlight: 0 };

/** An engine that refuses a request need not have read all of it; one that translates must. */
const REFUSED = 400;

export class Client {
  /** Returned to the pool if nothing goes wrong. */
  readonly reusable: boolean;
  /** Set by the owner: no request uses it, and it does not count against the connection limit. */
  idle = false;
  /** Set by the owner: the connection is not reused after this time. */
  idleUntilMs = 0;
  /** Set by the owner: counts the team's connections in use. */
  place: { inFlight: number } = NOWHERE;
  /** How long the server keeps the connection by its last answer; 0 if it must not be reused. */
  keepsSeconds = 0;
  /** It has been closed. */
  gone = false;
  readonly #owner: Pool;
  readonly #socket: Socket;
  readonly #secure: boolean;
  readonly #parser = new ResponseParser();
  #handler: PoolRequest | undefined = undefined;
  /** Waits for the connection to be established. */
  #request: RequestText | undefined = undefined;
  #ready = false;
  /** Chunks of a request are still to be written. */
  #writing = false;
  /** Has already carried a request. */
  #served = false;
  /** Carried a request before the current one, so incoming bytes may belong to that. */
  #used = false;
  /** When the answer began: before the whole request was sent, perhaps, or after that. */
  #answer: 'awaited' | 'undecided' | 'early' | 'timely' = 'awaited';

  constructor(origin: Origin, reusable: boolean, owner: Pool) {
    this.reusable = reusable;
    this.#owner = owner;
    this.#secure = origin.readyEvent === 'secureConnect';
    this.#socket = origin.open({ buffer: readBuffer, callback: this.#read });
    this.#socket.once(origin.readyEvent, () => this.#connected());
    this.#socket.on('end', () => this.#ended());
    this.#socket.on('error', (error) => (this.#ready ? this.breakOff() : this.#fail('connect', connectCauseOf(error, this.#secure))));
    this.#socket.on('close', () => this.breakOff());
  }

  get busy(): boolean {
    return this.#handler !== undefined;
  }

  /** In use on a reused connection. */
  get busyAgain(): boolean {
    return this.#used && this.#handler !== undefined;
  }

  start(handler: PoolRequest, request: RequestText): void {
    this.#handler = handler;
    this.#request = request;
    this.#parser.begin(request.answerBytesMax ?? this.#owner.responseBytesFor(request.bodyBytes), request.id, this.#owner.checksIds);
    this.#answer = 'awaited';
    this.#used = this.#served;
    this.#served = true;
    if (this.#ready) this.#send();
  }

  /** Does not call the handler. */
  destroy(): void {
    if (this.gone) return;
    this.gone = true;
    this.#handler = undefined;
    this.#request = undefined;
    this.#socket.destroy();
    this.#owner.onGone(this);
  }

  /** Ends request and connection. The handler comes last: it may start another request. */
  #fail(failure: AttemptFailure, cause?: FailureCause): void {
    const handler = this.#handler;
    this.destroy();
    handler?.onResult(failure, cause);
  }

  /** It is no longer certain that the next answer belongs to this request. */
  distrust(): void {
    this.#fail('unasked');
  }

  /** Same as when the connection breaks. */
  breakOff(): void {
    this.#fail(this.#ready ? 'reset' : 'connect');
  }

  #connected(): void {
    this.#ready = true;
    if (this.#handler !== undefined) this.#send();
  }

  #send(): void {
    const { text, encoding, pieces } = this.#request!;
    this.#request = undefined;
    // Head and body in one write, which is usually one system call and one packet.
    this.#socket.write(text, encoding);
    if (pieces !== undefined) this.#write(pieces, 0);
    if (this.#handler !== undefined) this.#handler.stage = 'sent';
  }

  /** Writes a long body as the system takes it, and goes on after `drain`. */
  #write(pieces: readonly Uint8Array[], first: number): void {
    for (let i = first; i < pieces.length && !this.gone; i++) {
      this.#writing = i + 1 < pieces.length;
      if (this.#socket.write(pieces[i]!)) continue;
      this.#socket.once('drain', () => this.#write(pieces, i + 1));
      return;
    }
  }

  /** Returning false stops reading. */
  readonly #read = (length: number): boolean => {
    if (this.gone) return false;
    // Unsolicited bytes before a request or after an answer.
    if (this.#handler === undefined || !this.#ready) {
      this.#owner.onUnasked(this);
      this.breakOff();
      return false;
    }
    if (this.#answer === 'awaited') this.#begun();
    const reading = this.#parser.read(readBuffer, length);
    if (reading === 'complete') this.#completed();
    else if (reading !== 'open') this.#refuse(reading);
    return !this.gone;
  };

  /**
   * Part of the request is unsent: an engine that answers early may read the rest as the next one.
   * With TLS, what the system took counts as sent from the next check phase on.
   */
  get #unsent(): boolean {
    return this.#writing || this.#socket.writableLength > 0;
  }

  /** The first bytes of an answer are there. */
  #begun(): void {
    this.#answer = this.#unsent ? 'early' : 'timely';
    if (!this.#secure || this.#answer === 'timely') return;
    this.#answer = 'undecided';
    setImmediate(() => {
      if (this.gone) return;
      this.#answer = this.#unsent ? 'early' : 'timely';
      if (this.#parser.read(readBuffer, 0) === 'complete') this.#completed();
    });
  }

  /** On a reused connection, unparsable bytes may be the rest of an earlier answer. */
  #refuse(reading: 'malformed' | 'too_large' | 'foreign'): void {
    if (this.#used && reading !== 'too_large') this.#owner.onUnasked(this);
    if (reading === 'malformed') this.#fail('reset');
    else this.#fail(reading === 'foreign' ? 'foreign_id' : 'too_large');
  }

  #completed(): void {
    if (this.#answer === 'undecided') return;
    const handler = this.#handler!;
    const parser = this.#parser;
    const response = parser.take();
    const early = this.#answer === 'early' && response.status < REFUSED;
    if (early || parser.excess) {
      this.#owner.onUnasked(this);
      // Followed by another, or too early: it may be the previous request's, unless it has our id.
      if (early || (this.#used && response.echoedId !== true)) {
        this.#fail('unasked');
        return;
      }
    }
    this.#handler = undefined;
    this.keepsSeconds = parser.keepsSeconds;
    if (this.reusable && this.keepsSeconds > 0 && this.#answer === 'timely') this.#owner.rest(this);
    else this.destroy();
    handler.onResult(response);
  }

  #ended(): void {
    if (this.#handler === undefined || this.#parser.end() !== 'complete') this.breakOff();
    else this.#completed();
  }
}

/**
 * Fields that an adapter may send: none of framing or the connection, nor `Expect`, which asks for
 * an interim answer.
 */
const NAME =
  /^(?!(?:host|connection|keep-alive|proxy-connection|transfer-encoding|content-length|te|trailer|upgrade|expect|accept-encoding)$)[\w!#$%&'*+.^`|~-]+$/i;
const VALUE = /^[\t\x20-\x7e]*$/;
const ID_FIELD = 'x-request-id';

/** Whether an operator may add a field of this name to every request. */
export function isFieldName(name: string): boolean {
  return NAME.test(name) && !/^(?:content-type|x-request-id|traceparent)$/i.test(name);
}

/** No white space and only ASCII: a line break would inject further header lines. */
const PATH = /^\/[\x21-\x7e]*$/;

/** The lines common to all calls. */
export function fixedLines(
  host: string,
  fields: Readonly<Record<string, string>> = {},
): { readonly reused: string; readonly fresh: string } {
  const more = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const lines = `Host: ${host}\r\nAccept-Encoding: identity\r\n${more.join('')}Connection: `;
  return { reused: `${lines}keep-alive\r\n`, fresh: `${lines}close\r\n` };
}

/** A serialized request. */
export interface RequestText {
  /** Its `X-Request-Id`, used to match the answer; empty for none. */
  readonly id: string;
  readonly text: string;
  /** `latin1` produces the same bytes as UTF-8 would, in half the time. */
  readonly encoding: 'latin1' | 'utf8';
  /** Of the body, pieces included; 0 without one. */
  readonly bodyBytes: number;
  /** Bytes to send after `text`. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /** Of the call. */
  readonly answerBytesMax?: number | undefined;
}

/**
 * Without fields named in `taken` (lower case), with `id` instead of the adapter's. `undefined` for
 * an invalid call, which is the adapter's fault.
 */
export function requestText(
  { method, path, headers, body, pieces, answerBytesMax }: EngineCall,
  basePath: string,
  lines: string,
  taken: readonly string[] = [],
  id = '',
): RequestText | undefined {
  const target = basePath + path;
  if (!PATH.test(target)) return undefined;
  let text = `${method} ${target} HTTP/1.1\r\n${lines}`;
  if (id !== '') text += `${ID_FIELD}: ${id}\r\n`;
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if ((id !== '' && lower === ID_FIELD) || taken.includes(lower)) continue;
    const value = headers[name]!;
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) {
    const bytes = Buffer.byteLength(body);
    // As many bytes as characters means that all are ASCII.
    const encoding = bytes === body.length ? 'latin1' : 'utf8';
    return { id, text: `${text}Content-Length: ${bytes}\r\n\r\n${body}`, encoding, bodyBytes: bytes, pieces: undefined, answerBytesMax };
  }
  if (pieces !== undefined) {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    return { id, text: `${text}Content-Length: ${bytes}\r\n\r\n`, encoding: 'latin1', bodyBytes: bytes, pieces, answerBytesMax };
  }
  if (method === 'POST') text += 'Content-Length: 0\r\n';
  return { id, text: `${text}\r\n`, encoding: 'latin1', bodyBytes: 0, pieces: undefined, answerBytesMax };
}
