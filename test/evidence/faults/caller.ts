// A caller: sends one request to a gateway, reads the answer to its last byte, and records what it saw.
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import type { Seen, SeenResult } from '../../support/auditor/witnessed.ts';
import { marked, translationOf } from './marked-engine.ts';
import type { Mark } from './marked-engine.ts';

/** A gateway, and its name in the history. */
export interface Target {
  readonly via: string;
  readonly port: number;
}

export interface KeyInUse {
  readonly teamId: string;
  readonly keyId: string;
  readonly key: string;
}

interface Translation {
  /** Code points; no two requests of a team may send the same number. At least `CHARACTERS_MIN`. */
  readonly characters: number;
  readonly marks: readonly [first: Mark, second: Mark];
  /** The caller leaves after this long, whatever has arrived by then. */
  readonly leavesAfterMs?: number;
}

/** A document for a forward route, and its expected answer. */
export interface Forwarding {
  readonly path: string;
  /** What the route charges. */
  readonly characters: number;
  readonly document: string;
  /** The upstream's whole answer. */
  readonly whole: Uint8Array;
  readonly leavesAfterMs?: number;
}

/** What was seen, and what a test may want to check besides. */
interface Answered {
  readonly seen: Seen;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Room for the marks. */
export const CHARACTERS_MIN = 48;

const ANSWER_MS_MAX = 30_000;

export class Callers {
  // Only with a timeout of its own does the agent respect how long the server keeps an idle connection; without it, it would
  // sometimes send a request on a connection that is just being closed.
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: ANSWER_MS_MAX });
  readonly #revoked = new Set<string>();
  readonly seen: Seen[] = [];

  /** Call it when the reply to a revocation has arrived: whatever is sent from then on must be refused. */
  revoked(keyId: string): void {
    this.#revoked.add(keyId);
  }

  translate(target: Target, key: KeyInUse, work: Translation): Promise<Answered> {
    const text = textOf(work);
    const body = JSON.stringify({ text: [text], target_lang: 'DE' });
    return this.#ask(target, key, { method: 'POST', path: '/v1/translate', body, ...work }, ({ body: answer }) => billedFor(answer, text));
  }

  /** A request that takes a slot of the rate window and nothing else. */
  languages(target: Target, key: KeyInUse): Promise<Answered> {
    return this.#ask(target, key, { method: 'GET', path: '/v1/languages?type=source', characters: 0 }, ({ body }) =>
      body.startsWith('[') ? 0 : undefined,
    );
  }

  /** A forwarded answer has no price: if complete, it costs what the route costs. */
  forward(target: Target, key: KeyInUse, { path, document, whole, ...cost }: Forwarding): Promise<Answered> {
    return this.#ask(target, key, { method: 'POST', path, body: document, ...cost }, ({ raw }) =>
      raw.equals(whole) ? cost.characters : undefined,
    );
  }

  close(): void {
    this.#agent.destroy();
  }

  async #ask(target: Target, key: KeyInUse, call: Call, billedOf: BilledOf): Promise<Answered> {
    const { teamId, keyId } = key;
    const afterRevocation = this.#revoked.has(keyId);
    const startedAtMs = Date.now();
    const response = await send(this.#agent, target, key.key, call).catch(() => undefined);
    const result = response === undefined ? ({ kind: 'unknown' } as const) : resultOf(response, billedOf);
    const { characters } = call;
    const seen = { teamId, keyId, characters, via: target.via, startedAtMs, endedAtMs: Date.now(), afterRevocation, result };
    this.seen.push(seen);
    return { seen, headers: response?.headers ?? {}, body: response?.body ?? '' };
  }
}

interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly characters: number;
  readonly leavesAfterMs?: number;
}

interface Response {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly raw: Buffer;
  /** The same as text. */
  readonly body: string;
}

/** What an answer with status 200 was billed; `undefined` if it is not the expected one. */
type BilledOf = (response: Response) => number | undefined;

/** Every third character takes two UTF-16 units. */
function textOf({ characters, marks }: Translation): string {
  const mark = marked(...marks);
  return mark + Array.from({ length: characters - mark.length }, (_, index) => (index % 3 === 0 ? '\u{1f30d}' : 'x')).join('');
}

function billedFor(body: string, text: string): number | undefined {
  const answer = JSON.parse(body) as { translations: { text: string }[]; billed_characters?: number };
  const [translation, ...others] = answer.translations;
  return others.length === 0 && translation?.text === translationOf(text) ? (answer.billed_characters ?? 0) : undefined;
}

/** Rejects if the connection breaks before the answer's last byte, or the caller leaves. */
function send(agent: Agent, target: Target, key: string, { method, path, body = '', leavesAfterMs }: Call): Promise<Response> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    const asked = request({ agent, host: '127.0.0.1', port: target.port, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const raw = Buffer.concat(chunks);
        resolve({ status: response.statusCode ?? 0, headers: response.headers, raw, body: raw.toString() });
      });
    });
    const leave = setTimeout(() => asked.destroy(), leavesAfterMs ?? ANSWER_MS_MAX);
    asked.on('close', () => clearTimeout(leave));
    asked.on('error', reject);
    asked.end(body);
  });
}

/** Throws if an answer violates the contract: a history could not correct that. */
function resultOf(response: Response, billedOf: BilledOf): SeenResult {
  const { status, headers, body } = response;
  const requestId = headers['x-request-id'];
  if (typeof requestId !== 'string') throw new Error(`an answer with status ${status} has no request id`);
  if (status === 200) {
    const billed = billedOf(response);
    if (billed === undefined) throw new Error(`${requestId} was answered 200 with something else: ${body.slice(0, 200)}`);
    return { kind: 'ok', requestId, billed };
  }
  const problem = JSON.parse(body) as { status: number; code: string; request_id: string };
  const whole = problem.status === status && problem.request_id === requestId;
  const unavailable = problem.code.endsWith('_unavailable');
  if (!whole || (unavailable && headers['retry-after'] !== '5')) throw new Error(`${requestId} was answered ${status} with ${body}`);
  return { kind: 'fail', requestId, status, code: problem.code };
}
