// A gateway with a few test routes behind either listener, for the listener tests.
import type { Exchange } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { ProblemWriter } from '../../../src/core/problem-writer.ts';
import { Router } from '../../../src/core/router.ts';
import type { RouteSpec } from '../../../src/core/route.ts';
import type { HeadStep, Step } from '../../../src/core/pipeline.ts';
import { ulidSource } from '../../../src/domain/ulid.ts';
import type { Listener, ListenerOptions } from '../../../src/server/listener.ts';
import { startNodeListener } from '../../../src/server/node-http.ts';
import { startUwsListener } from '../../../src/server/uws.ts';
import * as machine from '../../support/listeners.ts';
import type { ListenerName } from '../../support/listeners.ts';

type Start = (options: ListenerOptions) => Promise<Listener>;

const STARTS: Readonly<Record<ListenerName, Start>> = { uws: startUwsListener, node: startNodeListener };

/** Those that run on this machine. */
export const LISTENERS: readonly (readonly [ListenerName, Start])[] = machine.LISTENERS.map((name) => [name, STARTS[name]]);

const BODY_BYTES_MAX = 65_536;

export interface TestServer {
  readonly port: number;
  readonly gateway: Gateway;
  readonly listener: Listener;
  /** Every request that was settled: `METHOD path outcome`. */
  readonly settled: string[];
  /** Every request whose chain was started: `METHOD path`. */
  readonly handled: string[];
  /** Answers one waiting request to `/wait`. */
  letGo(): void;
  /** Resolves when the condition is true, which is checked whenever a chain starts or is settled. */
  until(condition: () => boolean): Promise<void>;
  close(): void;
}

export async function startTestServer(start: Start, options: Partial<ListenerOptions> = {}): Promise<TestServer> {
  const handled: string[] = [];
  const settled: string[] = [];
  const waiting: ((outcome: Outcome) => void)[] = [];
  const { changed, until } = conditions();
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
    newId: ulidSource(Date.now),
    now: () => performance.now(),
    requestMs: 10_000,
    reportBug: () => undefined,
  });
  const listener = await start({
    gateway,
    problems: new ProblemWriter('http://docs.test', 'test'),
    host: '127.0.0.1',
    port: 0,
    exclusive: true,
    bodyBytesMax: BODY_BYTES_MAX,
    ...options,
  });
  const close = (): void => {
    listener.close();
    gateway.close();
  };
  const letGo = (): void => waiting.shift()?.(json('{"waited":true}'));
  return { port: listener.address.port, gateway, listener, settled, handled, letGo, until, close };
}

/** Waiting without a clock: conditions are checked whenever something has changed. */
function conditions(): { readonly changed: () => void; readonly until: TestServer['until'] } {
  const watchers = new Set<() => void>();
  const changed = (): void => {
    for (const watcher of watchers) watcher();
  };
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
  return { changed, until };
}

function nameOf(outcome: Outcome): string {
  switch (outcome.kind) {
    case 'reply':
    case 'stream':
      return String(outcome.status);
    case 'problem':
      return outcome.problem.code;
    case 'client_closed':
      return outcome.kind;
  }
}

/** The routes; a request to `/wait` adds the function that answers it to `waiting`. */
function testRoutes(watch: Step, waiting: ((outcome: Outcome) => void)[]): RouteSpec[] {
  const route = (method: string, path: string, step: Step): RouteSpec => ({
    method,
    path,
    steps: [watch, step],
    takesBody: method === 'POST',
  });
  const answered = (method: string, path: string, run: (x: Exchange) => Outcome | Promise<Outcome>): RouteSpec =>
    route(method, path, { kind: 'body', name: 'answer', run });
  return [
    route('GET', '/sync', { kind: 'head', name: 'answer', headers: [], run: () => json('{"sync":true}') }),
    answered('GET', '/async', () => Promise.resolve(json('{"async":true}'))),
    answered('GET', '/wait', () => new Promise((resolve) => waiting.push(resolve))),
    answered('POST', '/echo', echo),
    answered('POST', '/async-echo', (x) => Promise.resolve(echo(x))),
  ];
}

function echo(x: Exchange): Outcome {
  if (x.body === 'none') return json('{"body":"none"}');
  if (x.body === 'too_large') return json('{"body":"too large"}');
  return json(JSON.stringify({ bytes: x.body.byteLength, text: new TextDecoder().decode(x.body.subarray(0, 100)) }));
}
