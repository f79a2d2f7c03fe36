// A gateway with a handful of test routes, behind either listener: what the listener tests talk to.
import { ulid } from 'ulid';
import { Gateway } from '../../src/core/gateway.ts';
import type { Exchange } from '../../src/core/exchange.ts';
import { json } from '../../src/core/outcome.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { ProblemWriter } from '../../src/core/problem-writer.ts';
import { refuse } from '../../src/core/problem.ts';
import { Router } from '../../src/core/router.ts';
import type { RouteSpec } from '../../src/core/route.ts';
import type { HeadStep, Step } from '../../src/core/step.ts';
import type { Listener, ListenerOptions } from '../../src/server/listener.ts';
import { startNodeListener } from '../../src/server/node-http.ts';
import { startUwsListener } from '../../src/server/uws.ts';

export const LISTENERS = [
  ['uws', startUwsListener],
  ['node', startNodeListener],
] as const;

export type Start = (typeof LISTENERS)[number][1];

export const BODY_BYTES_MAX = 65_536;

export interface TestServer {
  readonly port: number;
  readonly gateway: Gateway;
  readonly listener: Listener;
  /** Every request that was settled: `METHOD path outcome`. */
  readonly settled: string[];
  /** Every request whose chain was started: `METHOD path`. */
  readonly handled: string[];
  readonly bugs: string[];
  /** Answers one request that waits on `/wait`. */
  letGo(): void;
  /** Resolves when the condition holds; looked at whenever a chain starts or is settled. */
  until(condition: () => boolean): Promise<void>;
  close(): void;
}

export function problemWriter(): ProblemWriter {
  return new ProblemWriter({ docsUrl: 'http://docs.test', realm: 'test' });
}

export async function startTestServer(
  start: Start,
  options: Partial<ListenerOptions> & { readonly requestMs?: number } = {},
): Promise<TestServer> {
  const handled: string[] = [];
  const settled: string[] = [];
  const bugs: string[] = [];
  const waiting: ((outcome: Outcome) => void)[] = [];
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
  const watch: HeadStep = {
    kind: 'head',
    name: 'watch',
    run: ({ head }) => {
      handled.push(`${head.method} ${head.path}`);
      changed();
      return undefined;
    },
    settle: ({ head }, outcome) => {
      settled.push(`${head.method} ${head.path} ${nameOf(outcome)}`);
      changed();
    },
  };
  const gateway = new Gateway({
    router: new Router(testRoutes(watch, waiting), [watch]),
    around: [watch],
    newId: ulid,
    now: () => performance.now(),
    requestMs: options.requestMs ?? 10_000,
    reportBug: (_x, where, error) => bugs.push(`${where}: ${error instanceof Error ? error.message : String(error)}`),
  });
  const listener = await start({
    gateway,
    problems: problemWriter(),
    host: '127.0.0.1',
    port: 0,
    exclusive: true,
    bodyBytesMax: BODY_BYTES_MAX,
    ...options,
  });
  const until = (condition: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const watcher = (): void => {
        if (!condition()) return;
        watchers.delete(watcher);
        resolve();
      };
      watchers.add(watcher);
      watcher();
    });
  const close = (): void => {
    listener.close();
    gateway.close();
  };
  const letGo = (): void => waiting.shift()?.(json('{"waited":true}'));
  return { port: listener.address.port, gateway, listener, settled, handled, bugs, letGo, until, close };
}

function nameOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'reply':
      return String(outcome.status);
    case 'problem':
      return outcome.problem.code;
    case 'client_closed':
      return outcome.kind;
  }
}

function testRoutes(watch: Step, waiting: ((outcome: Outcome) => void)[]): RouteSpec[] {
  const head = (run: (x: Exchange) => Outcome | undefined, headers: readonly string[] = []): Step[] => [
    watch,
    { kind: 'head', name: 'answer', headers, run },
  ];
  const body = (run: (x: Exchange) => Outcome | Promise<Outcome>): Step[] => [watch, { kind: 'body', name: 'answer', run }];
  const route = (method: string, path: string, steps: readonly Step[], takesBody = method === 'POST'): RouteSpec => ({
    method,
    path,
    steps,
    takesBody,
  });
  return [
    route(
      'GET',
      '/sync',
      head(() => json('{"sync":true}')),
    ),
    route(
      'GET',
      '/async',
      body(async () => Promise.resolve(json('{"async":true}'))),
    ),
    route(
      'GET',
      '/wait',
      body(() => new Promise((resolve) => waiting.push(resolve))),
    ),
    route(
      'POST',
      '/wait',
      body(() => new Promise((resolve) => waiting.push(resolve))),
    ),
    route('POST', '/echo', body(echo)),
    route(
      'POST',
      '/async-echo',
      body(async (x) => Promise.resolve(echo(x))),
    ),
    route('POST', '/closed', [
      ...head(() => refuse('unauthorized', 'No.')),
      ...body(echo)
        .slice(1)
        .map((step) => ({ ...step, name: 'echo' })),
    ]),
    route(
      'GET',
      '/headers',
      head((x) => json(JSON.stringify([x.head.query, x.head.headers])), ['x-one', 'authorization']),
    ),
    route(
      'DELETE',
      '/thing',
      head(() => ({ kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] })),
    ),
    route('GET', '/throw', head(throwing)),
    route(
      'GET',
      '/reject',
      body(async () => Promise.resolve(throwing())),
    ),
    route(
      'GET',
      '/never',
      body(() => new Promise(() => undefined)),
    ),
    route(
      'GET',
      '/split',
      head(() => json('{}', 200, [['X-Bad', 'a\r\nSet-Cookie: b=c']])),
    ),
    route(
      'GET',
      '/split-later',
      body(async () => Promise.resolve(json('{}', 200, [['X-Bad', 'a\r\nSet-Cookie: b=c']]))),
    ),
    route(
      'GET',
      '/field',
      head(() => json('{}', 200, [['X-Good', 'a\tb~']])),
    ),
  ];
}

function throwing(): Outcome {
  throw new Error('a planted bug with a secret in it');
}

function echo(x: Exchange): Outcome {
  if (x.body === 'none') return json('{"body":"none"}');
  if (x.body === 'too_large') return refuse('validation_error', 'body: it is too large.');
  return json(JSON.stringify({ bytes: x.body.byteLength, text: new TextDecoder().decode(x.body.subarray(0, 100)), sum: sumOf(x.body) }));
}

export function sumOf(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) sum = (sum * 31 + byte) >>> 0;
  return sum;
}
