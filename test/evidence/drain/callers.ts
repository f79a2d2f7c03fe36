// Callers who translate over persistent connections while gateways are restarted, and what failed of it.
import { Agent, request as httpRequest } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';

const BODY = JSON.stringify({ text: ['0123456789'], target_lang: 'DE' });

interface Sender {
  /** Sends one request; rejects with the error's code if there was no complete answer. */
  readonly send: (port: number) => Promise<number>;
  readonly close: () => unknown;
}

export function undiciSender(key: string): Sender {
  const clients = new Map<number, Client>();
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  return {
    async send(port) {
      let client = clients.get(port);
      if (client === undefined) clients.set(port, (client = new Client(`http://127.0.0.1:${port}`)));
      const { statusCode, body } = await client.request({ method: 'POST', path: '/v1/translate', headers, body: BODY });
      await body.text();
      return statusCode;
    },
    close: () => Promise.all([...clients.values()].map((client) => client.close())),
  };
}

/** Node's own agent: unlike undici it never closes an idle connection itself. */
export function agentSender(key: string, more: Readonly<Record<string, string>> = {}): Sender {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const own = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', 'Content-Length': BODY.length };
  const sent = { agent, host: '127.0.0.1', method: 'POST', path: '/v1/translate', headers: { ...own, ...more } };
  const send = (port: number): Promise<number> =>
    new Promise((resolve, reject) => {
      const outgoing = httpRequest({ ...sent, port }, (answer) => {
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
        answer.resume();
      });
      outgoing.once('error', reject);
      outgoing.end(BODY);
    });
  return { send, close: () => agent.destroy() };
}

interface Habits {
  readonly count: number;
  /** Where a connection is refused, and only then, a caller goes to the next. With one port that is a failure like any other. */
  readonly ports: readonly number[];
  readonly senderOf: (index: number) => Sender;
  /** Of one caller, between two requests. */
  readonly pauseMs: (index: number, asked: number) => number;
}

/** They send requests in sequence, each of them. */
export class Callers {
  /** Answers that were not a translation. */
  readonly failures: string[] = [];
  delivered = 0;
  #stopped = false;
  readonly #running: Promise<unknown>;

  constructor({ count, ports, senderOf, pauseMs }: Habits) {
    const run = async (index: number): Promise<void> => {
      const { send, close } = senderOf(index);
      for (let at = 0, asked = 0; !this.#stopped; asked++) {
        at = await this.#one(send, ports, at);
        await delay(pauseMs(index, asked));
      }
      await close();
    };
    this.#running = Promise.all(Array.from({ length: count }, (_, index) => run(index)));
  }

  async #one(send: Sender['send'], ports: readonly number[], at: number): Promise<number> {
    try {
      const status = await send(ports[at]!);
      if (status === 200) this.delivered++;
      else this.failures.push(String(status));
      return at;
    } catch (error) {
      const { code = String(error) } = error as { code?: string };
      if (code !== 'ECONNREFUSED' || ports.length === 1) this.failures.push(code);
      return (at + 1) % ports.length;
    }
  }

  async stop(): Promise<readonly string[]> {
    this.#stopped = true;
    await this.#running;
    return this.failures;
  }
}
