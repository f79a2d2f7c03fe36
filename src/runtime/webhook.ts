// Posts a signed body to the operator's receiver as specified by Standard Webhooks; any 2xx in time counts as success.
import { createHmac } from 'node:crypto';
import http from 'node:http';
import https from 'node:https';
import type { SendFailure } from './event-sender.ts';

export interface WebhookOptions {
  readonly url: string;
  readonly key: Buffer;
  /** Limit until the response status arrives. */
  readonly timeoutMs: number;
  /** Wall clock, for the timestamp in the signature. */
  readonly nowMs: () => number;
  readonly socketsMax: number;
}

export interface WebhookMessage {
  readonly id: string;
  readonly contentType: string;
  readonly body: string;
}

/** The response body is not used: only this much of it is read, to keep the connection alive. */
const ANSWER_BYTES_MAX = 65_536;

export class Webhook {
  readonly #options: WebhookOptions;
  readonly #url: URL;
  readonly #agent: http.Agent;

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
    return new Promise((resolve) => {
      const { request } = this.#url.protocol === 'https:' ? https : http;
      const sent = request(this.#url, { method: 'POST', headers, agent: this.#agent, signal });
      // Also ends a response whose body never ends.
      const timer = setTimeout(() => sent.destroy(new TooLate()), this.#options.timeoutMs);
      sent.on('response', (response) => {
        const status = response.statusCode ?? 0;
        resolve(status >= 200 && status < 300 ? undefined : { failure: 'status', status });
        let left = ANSWER_BYTES_MAX;
        response.on('data', (chunk: Buffer) => {
          left -= chunk.length;
          if (left < 0) response.destroy();
        });
        response.on('error', () => undefined);
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

  close(): void {
    this.#agent.destroy();
  }
}

class TooLate extends Error {}

/** `v1,` and the base64 of the HMAC-SHA256 of id, timestamp and body, joined by dots. */
export function signatureOf(key: Buffer, id: string, timestamp: number, body: string): string {
  return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
}
