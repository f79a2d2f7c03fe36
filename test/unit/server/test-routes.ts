// The routes of the listener tests: those that answer at once, later, when they are let go, and with their body.
import type { Exchange } from '../../../src/core/exchange.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import type { RouteSpec } from '../../../src/core/route.ts';
import type { Step } from '../../../src/core/step.ts';

/** The routes; a request to `/wait` adds the function that answers it to `waiting`. */
export function testRoutes(watch: Step, waiting: ((outcome: Outcome) => void)[]): RouteSpec[] {
  const route = (method: string, path: string, step: Step): RouteSpec => ({
    method,
    path,
    steps: [watch, step],
    takesBody: method === 'POST',
  });
  const body = (run: (x: Exchange) => Outcome | Promise<Outcome>): Step => ({ kind: 'body', name: 'answer', run });
  return [
    route('GET', '/sync', { kind: 'head', name: 'answer', headers: [], run: () => json('{"sync":true}') }),
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
    route('POST', '/echo', body(echo)),
    route(
      'POST',
      '/async-echo',
      body(async (x) => Promise.resolve(echo(x))),
    ),
  ];
}

function echo(x: Exchange): Outcome {
  if (x.body === 'none') return json('{"body":"none"}');
  if (x.body === 'too_large') return json('{"body":"too large"}');
  return json(JSON.stringify({ bytes: x.body.byteLength, text: new TextDecoder().decode(x.body.subarray(0, 100)) }));
}
