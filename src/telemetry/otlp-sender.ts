// Sends OTLP over HTTP: one POST for each export, repeated while the endpoint is away, within one time limit for all of it.
import { readFileSync } from 'node:fs';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { OtelExport } from '../ports/telemetry.ts';

/** `undefined` if it was accepted; otherwise why not, in our own words: a status, a code of the system, `timeout`, `closed`. */
type Refused = string | undefined;

/** Statuses and errors after which the same export may succeed, as the specification lists them. */
const AGAIN: ReadonlySet<string> = new Set([
  'status:429',
  'status:502',
  'status:503',
  'status:504',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'EAI_AGAIN',
]);
const WAIT_MS = 1000;
/** Of an answer, which only its status is read of. */
const ANSWER_BYTES_MAX = 65_536;
const zip = promisify(gzip);

/** Why the files of TLS cannot be read: the message names the file. */
export class TlsFileError extends Error {
  override readonly name = 'TlsFileError';
}

export class OtlpSender {
  readonly #export: OtelExport;
  readonly #url: URL;
  readonly #agent: HttpAgent | HttpsAgent;
  /** Ends what is under way. */
  readonly #closing = new AbortController();

  /** Throws a `TlsFileError`. */
  constructor(settings: OtelExport) {
    this.#export = settings;
    this.#url = new URL(settings.url);
    // One connection: exports follow each other.
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#agent = this.#url.protocol === 'https:' ? new HttpsAgent({ ...kept, ...tlsFiles(settings) }) : new HttpAgent(kept);
  }

  /** Never rejects. */
  async send(body: Uint8Array): Promise<Refused> {
    const { signal } = this.#closing;
    const whole = this.#export.gzip ? await zip(body) : body;
    const untilMs = performance.now() + this.#export.timeoutMs;
    for (let waitMs = WAIT_MS; ; waitMs *= 2) {
      const refused = await this.#post(whole, untilMs - performance.now());
      if (refused === undefined || !AGAIN.has(refused) || performance.now() + waitMs >= untilMs) return refused;
      await waited(waitMs, signal);
      if (signal.aborted) return 'closed';
    }
  }

  /** Nothing is sent any more; exports under way end at once. */
  close(): void {
    this.#closing.abort();
    this.#agent.destroy();
  }

  #post(body: Uint8Array, withinMs: number): Promise<Refused> {
    const { signal } = this.#closing;
    if (signal.aborted) return Promise.resolve('closed');
    return new Promise((resolve) => {
      const headers = {
        ...this.#export.headers,
        'content-type': this.#export.encoding === 'json' ? 'application/json' : 'application/x-protobuf',
        ...(this.#export.gzip ? { 'content-encoding': 'gzip' } : {}),
        'content-length': String(body.length),
      };
      const send = this.#url.protocol === 'https:' ? httpsRequest : httpRequest;
      const call: ClientRequest = send(this.#url, { method: 'POST', agent: this.#agent, headers });
      const end = (refused: Refused): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
        resolve(refused);
      };
      const giveUp = (why: string): void => {
        end(why);
        call.destroy();
      };
      const onAbort = (): void => giveUp('closed');
      const timer = setTimeout(() => giveUp('timeout'), withinMs).unref();
      signal.addEventListener('abort', onAbort);
      call.on('error', (error: NodeJS.ErrnoException) => end(error.code ?? 'failed'));
      call.on('response', (answer) => drained(answer, end));
      call.end(body);
    });
  }
}

/** Reads and drops the answer, so that its connection can be used again; what it says is nobody's. */
function drained(answer: IncomingMessage, end: (refused: Refused) => void): void {
  const { statusCode = 0 } = answer;
  let bytes = 0;
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) answer.destroy();
  });
  answer.on('close', () => end(statusCode >= 200 && statusCode < 300 ? undefined : `status:${statusCode}`));
}

function waited(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms).unref();
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

function tlsFiles({ ca, cert, key }: OtelExport): Readonly<Record<string, Buffer>> {
  const files = { ca, cert, key };
  return Object.fromEntries(Object.entries(files).flatMap(([name, path]) => (path === undefined ? [] : [[name, contentsOf(path)]])));
}

function contentsOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new TlsFileError(`${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}
