// Sends requests at a fixed rate whatever their outcome: unlike a closed loop, it does not slow down for a slow server.
import { Agent, request } from 'node:http';
import { performance } from 'node:perf_hooks';

export interface Sent {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  /** `undefined` if the connection broke. */
  readonly status: number | undefined;
  readonly retryAfter: string | undefined;
  /** A problem's code, or `ok`. */
  readonly code: string;
}

interface OpenLoopOptions {
  readonly port: number;
  readonly key: string;
  readonly perSecond: number;
  readonly seconds: number;
  readonly body?: string;
}

const BODY = '{"text":["0123456789"],"target_lang":"DE"}';
const TICK_MS = 5;
const MS_PER_SECOND = 1000;

/** Resolves when the last answer has arrived. */
export async function openLoop(options: OpenLoopOptions): Promise<Sent[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity, maxFreeSockets: 10_000 });
  const running: Promise<Sent>[] = [];
  const startedAtMs = performance.now();
  const total = Math.round(options.perSecond * options.seconds);
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const due = Math.min(total, Math.floor(((performance.now() - startedAtMs) / MS_PER_SECOND) * options.perSecond));
      while (running.length < due) running.push(sendOne(agent, options));
      if (running.length < total) return;
      clearInterval(timer);
      resolve();
    }, TICK_MS);
  });
  const sent = await Promise.all(running);
  agent.destroy();
  return sent;
}

/** One request over the agent's connections; never rejects. */
export function sendOne(agent: Agent, { port, key, body = BODY }: Pick<OpenLoopOptions, 'port' | 'key' | 'body'>): Promise<Sent> {
  const startedAtMs = performance.now();
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), authorization: `Bearer ${key}` };
  return new Promise((resolve) => {
    const end = (status: number | undefined, retryAfter: string | undefined, text: string): void =>
      resolve({ startedAtMs, endedAtMs: performance.now(), status, retryAfter, code: /"code":"(\w+)"/.exec(text)?.[1] ?? 'ok' });
    const call = request({ port, host: '127.0.0.1', method: 'POST', path: '/v1/translate', agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => (text += piece));
      response.on('end', () => end(response.statusCode, response.headers['retry-after'], text));
      response.on('error', () => end(undefined, undefined, ''));
    });
    call.on('error', () => end(undefined, undefined, ''));
    call.end(body);
  });
}

/** Answers of 200 per second of the given span, by time of arrival. */
export function goodput(sent: readonly Sent[], fromMs: number, toMs: number): number {
  const good = sent.filter(({ status, endedAtMs }) => status === 200 && endedAtMs >= fromMs && endedAtMs < toMs);
  return (good.length * MS_PER_SECOND) / (toMs - fromMs);
}

/** How long the answers of 200 took, in milliseconds; `share` 0.99 is the slowest hundredth. */
export function quantile(sent: readonly Sent[], share: number): number {
  const times = sent.filter(({ status }) => status === 200).map(({ startedAtMs, endedAtMs }) => endedAtMs - startedAtMs);
  times.sort((a, b) => a - b);
  return times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
}

export function countBy(sent: readonly Sent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, code } of sent) {
    const name = status === undefined ? 'broken' : `${status} ${code}`;
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}
