// Posts a signed body to the operator's receiver as specified by Standard Webhooks; any 2xx in time counts as success.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { SendFailure } from './event-sender.ts';

interface WebhookOptions {
  readonly url: string;
  readonly key: Buffer;
  /** Limit until the response status arrives. */
  readonly timeoutMs: number;
  /** Wall clock, for the timestamp in the signature. */
  readonly nowMs: () => number;
  readonly socketsMax: number;
}

interface WebhookMessage {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

/** Bodies of responses are not used: only this much of one is read, for this long, so that its connection can be used again. */
const BODY_BYTES_MAX = 16_384;
const BODY_MS = 1000;
/** Each would be parsed; real receivers send one at most. */
const INTERIM_ANSWERS_MAX = 8;

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #url: URL;
  readonly #agent: http.Agent;
  /** Requests without a status yet. */
  #waiting = 0;
  /** Responses whose bodies are still arriving, oldest first; each has one of the sockets. */
  readonly #arriving = new Set<http.IncomingMessage>();

  constructor(options: WebhookOptions) {
    this.#options = options;
    this.#url = new URL(options.url);
    const { Agent } = this.#url.protocol === 'https:' ? https : http;
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.socketsMax, maxFreeSockets: 1, timeout: options.timeoutMs });
  }

  /** Never rejects. Redirects are not followed: they count as failures like any other status. */
  post({ id, contentType, body }: WebhookMessage, signal: AbortSignal): Promise<SendFailure | undefined> {
    const timestamp = Math.floor(this.#options.nowMs() / 1000);
    const bytes = Buffer.from(body);
    const headers = {
      'content-type': contentType,
      'content-length': bytes.length,
      'user-agent': 'lingate',
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signatureOf(this.#options.key, id, timestamp, body),
    };
    this.#waiting++;
    this.#freeSocket();
    return new Promise((settle) => {
      let isWaiting = true;
      const resolve = (failure: SendFailure | undefined): void => {
        if (isWaiting) this.#waiting--;
        isWaiting = false;
        settle(failure);
      };
      const { request } = this.#url.protocol === 'https:' ? https : http;
      const sent = request(this.#url, { method: 'POST', headers, agent: this.#agent, signal });
      const timer = setTimeout(() => sent.destroy(new TooLate()), this.#options.timeoutMs);
      sent.on('response', (response) => {
        clearTimeout(timer);
        const status = response.statusCode ?? 0;
        resolve(status >= 200 && status < 300 ? undefined : { failure: 'status', status });
        this.#drop(response);
      });
      let interim = 0;
      sent.on('information', () => {
        if (++interim > INTERIM_ANSWERS_MAX) sent.destroy();
      });
      sent.on('error', (error: NodeJS.ErrnoException) =>
        resolve({ failure: error instanceof TooLate ? 'timeout' : (error.code ?? 'broken') }),
      );
      sent.on('close', () => {
        clearTimeout(timer);
        resolve({ failure: 'broken' });
      });
      sent.end(bytes);
    });
  }

  /** A request never waits for the body of an earlier response: if no socket is left for it, the oldest body ends. */
  #freeSocket(): void {
    if (this.#waiting + this.#arriving.size <= this.#options.socketsMax) return;
    for (const oldest of this.#arriving) {
      this.#arriving.delete(oldest);
      oldest.destroy();
      return;
    }
  }

  /** Reads what there is of a body; a connection whose body is long or slow is closed. */
  #drop(response: http.IncomingMessage): void {
    const timer = setTimeout(() => response.destroy(), BODY_MS);
    let left = BODY_BYTES_MAX;
    this.#arriving.add(response);
    this.#freeSocket();
    response.on('data', (chunk: Buffer) => {
      left -= chunk.length;
      if (left < 0) response.destroy();
    });
    response.on('error', () => undefined);
    response.on('close', () => {
      clearTimeout(timer);
      this.#arriving.delete(response);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

class TooLate extends Error {}

/** `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. */
function signatureOf(key: Buffer, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
