// A request as it arrives: keeps the fields that some step reads, judges the framing, and collects
// the body up to a limit. And an outcome as status, fields and body, validated and ready for either
// library to write.
import { STATUS_CODES } from 'node:http';
import { REMOTE_ADDRESS } from '../core/exchange.ts';
import type { Body, Exchange } from '../core/exchange.ts';
import { JSON_TYPE } from '../core/outcome.ts';
import type { HeaderList, Refusal, Reply, StreamReply } from '../core/outcome.ts';
import type { ProblemWriter } from '../core/problem-writer.ts';

/** A host name or IPv6 literal with an optional port; no user part, path or white space. */
const HOST = /^(?:\[[0-9A-Fa-f:.]+\]|[\w\-.~%!$&'()*+;=]+)(?::\d{0,5})?$/;
const LENGTH = /^\d{1,15}$/;
/** A regex instead of lowercasing, which would map the Kelvin sign to k. */
const CHUNKED = /^chunked$/i;
const CLOSE = /(?:^|[\s,])close(?:[\s,]|$)/i;

const BAD_HOST = 'Host: send exactly one, holding a host name and at most a port.';
const BAD_LENGTH = 'Content-Length: send it at most once, in digits only.';
const BAD_CODING = 'Transfer-Encoding: only chunked is understood, once, and never beside Content-Length.';
const NO_LENGTH = 'Content-Length: a POST needs it (0 for an empty body), or Transfer-Encoding: chunked.';

/** So often the limit is read and dropped: most callers read a refusal only after sending all. */
export const DROP_FACTOR = 8;

/** What the fields say about the body and the connection. */
export interface MessageFraming {
  /** Announced body length; 0 if there is no body or it is chunked. */
  readonly bodyBytes: number;
  readonly chunked: boolean;
  /** The caller or the framing requires the connection to close after the answer. */
  readonly closes: boolean;
}

/**
 * Reused for one request at a time: both libraries deliver a head's fields in one go. Call `start`,
 * `field` for each, then `judge`; properties are valid until the next `start`.
 */
export class HeaderFields implements MessageFraming {
  bodyBytes = 0;
  chunked = false;
  closes = false;
  /** Value of the first `Connection` field. */
  connection = '';
  /** The fields that some step reads. May be held on to: the next `start` creates a new object. */
  headers: Record<string, string> = {};
  /** Whether some step reads the address of the connection. */
  readonly wantsAddress: boolean;
  /** The names to keep, by length: most other fields differ in it, so no name has to be hashed. */
  readonly #names: readonly (readonly string[] | undefined)[];
  #host = '';
  /** The last valid `Host`: most requests have the same, and comparing is cheaper than a regex. */
  #rightHost: string | undefined = undefined;
  #hosts = 0;
  #length = '';
  #lengths = 0;
  #coding = '';
  #codings = 0;

  constructor(names: ReadonlySet<string>) {
    const byLength: string[][] = [];
    for (const name of names) (byLength[name.length] ??= []).push(name);
    this.#names = byLength;
    this.wantsAddress = names.has(REMOTE_ADDRESS);
  }

  start(): void {
    this.bodyBytes = 0;
    this.chunked = false;
    this.closes = false;
    this.connection = '';
    this.headers = {};
    this.#hosts = 0;
    this.#lengths = 0;
    this.#codings = 0;
  }

  /** Bound once, because the library receives it for every request. `name` is in lower case. */
  readonly field = (name: string, value: string): void => {
    // The length is compared first, because most fields are none of these.
    switch (name.length) {
      case 4:
        if (name === 'host') {
          this.#hosts++;
          this.#host = value;
        }
        break;
      case 10:
        if (name === 'connection') {
          if (this.connection === '') this.connection = value;
          if (CLOSE.test(value)) this.closes = true;
        }
        break;
      case 14:
        if (name === 'content-length') {
          this.#lengths++;
          this.#length = value;
        }
        break;
      case 17:
        if (name === 'transfer-encoding') {
          this.#codings++;
          this.#coding = value;
        }
        break;
      default:
    }
    const names = this.#names[name.length];
    if (names === undefined) return;
    for (const known of names) {
      if (known !== name) continue;
      const earlier = this.headers[known];
      // Our own, internalized string; the library's would have to be looked up to serve as a name.
      this.headers[known] = earlier === undefined ? value : `${earlier}, ${value}`;
    }
  };

  /** Only if `wantsAddress`. */
  remoteAddress(text: string): void {
    this.headers[REMOTE_ADDRESS] = text;
  }

  /** What is wrong with the framing, as a problem's detail; `undefined` if nothing is. */
  judge(method: string, http10 = false): string | undefined {
    if (this.#hosts === 0 ? !http10 : this.#hosts > 1) return BAD_HOST;
    if (this.#hosts === 1 && this.#host !== this.#rightHost) {
      if (!HOST.test(this.#host)) return BAD_HOST;
      this.#rightHost = this.#host;
    }
    if (this.#codings > 0) return this.#judgeCoding(http10);
    if (this.#lengths === 0) return this.#judgeUnsized(method);
    if (this.#lengths > 1 || !LENGTH.test(this.#length)) return BAD_LENGTH;
    this.bodyBytes = Number(this.#length);
    return undefined;
  }

  #judgeCoding(http10: boolean): string | undefined {
    if (http10 || this.#codings > 1 || this.#lengths > 0 || !CHUNKED.test(this.#coding)) return BAD_CODING;
    this.chunked = true;
    // uWS is lenient about chunks, so what follows such a body may be no request.
    this.closes = true;
    return undefined;
  }

  #judgeUnsized(method: string): string | undefined {
    // uWS stops at an empty field name, which can hide a length: the body must not be parsed.
    if (method === 'POST') return NO_LENGTH;
    if (method === 'PUT' || method === 'PATCH') this.closes = true;
    return undefined;
  }
}

/** Collects a body up to a limit, and counts the bytes dropped beyond it. */
export class BodyCollector {
  readonly #bytesMax: number;
  readonly #announcedBytes: number;
  #bytes: Uint8Array | undefined = undefined;
  /** Bytes received so far, including dropped ones. To be read only. */
  length = 0;
  #discarding: boolean;

  /** `announcedBytes` is 0 if unknown. A body announced as too long is not stored at all. */
  constructor(bytesMax: number, announcedBytes: number) {
    this.#bytesMax = bytesMax;
    this.#announcedBytes = announcedBytes;
    this.#discarding = announcedBytes > bytesMax;
  }

  /** The body is not needed: from now on its bytes are only counted. */
  discard(): void {
    this.#discarding = true;
    this.#bytes = undefined;
  }

  /** `borrowed` memory belongs to the library and is only valid during the call. */
  add(chunk: Uint8Array, borrowed: boolean): void {
    const start = this.length;
    this.length += chunk.byteLength;
    if (this.length > this.#bytesMax) this.discard();
    if (this.#discarding || chunk.byteLength === 0) return;
    if (this.#bytes === undefined && chunk.byteLength >= this.#announcedBytes) {
      // A single chunk, as nearly always. `Buffer.from` takes short ones from Node's pool, which is
      // cheaper than allocating.
      this.#bytes = borrowed ? Buffer.from(chunk) : chunk;
      return;
    }
    this.#room(start).set(chunk, start);
  }

  /** The complete body, or why there is none. Call it once, after the last chunk. */
  take(): Body {
    if (this.length > this.#bytesMax) return 'too_large';
    if (this.#bytes === undefined) return 'none';
    return this.#bytes.byteLength === this.length ? this.#bytes : this.#bytes.subarray(0, this.length);
  }

  /**
   * Doubles: few allocations however small the chunks, and at most twice what has arrived. Not
   * zero-filled, which would cost as much as the copy.
   */
  #room(filled: number): Uint8Array {
    const bytes = this.#bytes;
    if (bytes !== undefined && bytes.byteLength >= this.length) return bytes;
    const enough = this.#announcedBytes >= this.length ? this.#announcedBytes : this.#bytesMax;
    const size = Math.max(this.length, Math.min(enough, this.length * 2));
    const grown = Buffer.allocUnsafeSlow(size);
    if (bytes !== undefined) grown.set(bytes.subarray(0, filled));
    this.#bytes = grown;
    return grown;
  }
}

/** What is sent, except for `Date`, `Content-Length` and `Connection`, which the writer adds. */
export interface ResponseMessage {
  readonly status: number;
  readonly requestId: string;
  /** `undefined` if there is no body. */
  readonly contentType: string | undefined;
  readonly headers: HeaderList;
  /** It may be stored, and must be revalidated before each use. */
  readonly revalidated: boolean;
  readonly body: string | Uint8Array;
}

/** The same for a streamed answer. */
export interface StreamHead extends Omit<ResponseMessage, 'body'> {
  /** Length of the body; `undefined` means chunked. */
  readonly bytes: number | undefined;
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

/** Throws if a field is not safe: uWS writes line breaks verbatim, which splits the response. */
export function compose(outcome: Reply | Refusal, x: Exchange, problems: ProblemWriter): ResponseMessage {
  if (outcome.kind === 'problem') return composeProblem(outcome, x, problems);
  const { status, contentType, headers, body } = outcome;
  const revalidated = x.route.revalidated === true;
  return { status, requestId: x.id, contentType, headers: checked(contentType, headers, x), revalidated, body };
}

function composeProblem({ problem }: Refusal, x: Exchange, problems: ProblemWriter): ResponseMessage {
  const { problemForm: form } = x.route;
  const { status, headers, body } =
    form === undefined ? problems.render(problem, x.id) : problems.renderAs(form, problem, x.id, x.head.query);
  if (!Number.isInteger(status) || status < 400 || status > 599) throw new Error('a problem form gives a status from 400 to 599');
  const contentType = form?.contentType ?? 'application/problem+json';
  return { status, requestId: x.id, contentType, headers: checked(form?.contentType, headers, x), revalidated: false, body };
}

/** Throws like `compose`. */
export function composeHead({ status, contentType, headers, bytes }: StreamReply, x: Exchange): StreamHead {
  return { status, requestId: x.id, contentType, headers: checked(contentType, headers, x), revalidated: false, bytes };
}

/** The outcome's own fields, and those added to every answer to this request. */
function checked(contentType: string | undefined, own: HeaderList, { responseHeaders }: Exchange): HeaderList {
  if (contentType !== undefined && contentType !== JSON_TYPE && !VALUE.test(contentType))
    throw new Error('Content-Type contains a character that is not allowed in a field');
  const all = responseHeaders.length === 0 ? own : [...own, ...responseHeaders];
  for (const [name, value] of all) {
    if (!NAME.test(name)) throw new Error('the name of a response field is not a token');
    if (!VALUE.test(value)) throw new Error(`response field ${name} contains a character that is not allowed in a field`);
  }
  return all;
}

/** `404 Not Found`. */
export function statusLine(status: number): string {
  return STATUS_LINES.get(status) ?? `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
}

const STATUS_LINES = new Map(Object.entries(STATUS_CODES).map(([status, text]) => [Number(status), `${status} ${text ?? ''}`]));

/** The whole answer as text, for a connection whose parser has failed: it always closes. */
export function serialise(answer: ResponseMessage): string {
  const fields = [
    ...fieldsOf(answer),
    ['Date', new Date().toUTCString()],
    ['Connection', 'close'],
    ['Content-Length', String(Buffer.byteLength(answer.body))],
  ];
  const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${statusLine(answer.status)}\r\n${lines.join('')}\r\n${String(answer.body)}`;
}

/** The fields common to all answers, then its own. */
export function fieldsOf(answer: Omit<ResponseMessage, 'body'>): [name: string, value: string][] {
  const fields: [string, string][] = [
    ['X-Request-Id', answer.requestId],
    ['Cache-Control', answer.revalidated ? 'no-cache' : 'no-store'],
  ];
  if (answer.contentType !== undefined) fields.push(['Content-Type', answer.contentType]);
  for (const [name, value] of answer.headers) fields.push([name, value]);
  return fields;
}
