// The routes of the listener tests: one for each way in which a chain answers, waits or fails.
import type { Exchange } from '../../../src/core/exchange.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome, StreamReply } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import type { RouteSpec } from '../../../src/core/route.ts';
import type { BodyStep, Step } from '../../../src/core/step.ts';
import { flowOf } from './flows.ts';

/** The routes; a request to `/wait` adds the function that answers it to `waiting`. */
export function testRoutes(watch: Step, waiting: ((outcome: Outcome) => void)[]): RouteSpec[] {
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
    { ...route('POST', '/read', body(readSlowly), false), streamedBytesMax: STREAMED_BYTES_MAX },
    { ...route('POST', '/read-later', [watch, later, ...body(readSlowly).slice(1)], false), streamedBytesMax: STREAMED_BYTES_MAX },
    { ...route('POST', '/hold-up', body(holdUp), false), streamedBytesMax: STREAMED_BYTES_MAX },
    {
      ...route(
        'POST',
        '/never-read',
        body(() => new Promise(() => undefined)),
        false,
      ),
      streamedBytesMax: STREAMED_BYTES_MAX,
    },
    {
      ...route(
        'POST',
        '/no-thanks',
        body(async () => Promise.resolve(refuse('validation_error', 'No.'))),
        false,
      ),
      streamedBytesMax: STREAMED_BYTES_MAX,
    },
    { ...route('GET', '/flow', body(flow), false), streamedBytesMax: STREAMED_BYTES_MAX },
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

/** Waits like an authentication, while the body is held back. */
const STREAMED_BYTES_MAX = 67_108_864;

const later: BodyStep = {
  kind: 'body',
  name: 'later',
  run: async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    return undefined;
  },
};

/** Reads a body chunk by chunk, with a pause after each, and answers with its length and checksum. */
function readSlowly(x: Exchange): Outcome | Promise<Outcome> {
  x.ownDeadline = true;
  const body = x.sink.incoming();
  if (body === undefined) return json('{"body":"none"}');
  return new Promise((resolve) => {
    let [bytes, sum, paused] = [0, 0, false];
    x.onCancel(() => resolve(json('{}')));
    body.open({
      piece(chunk) {
        if (paused) throw new Error('a piece came in spite of the pause');
        for (const byte of chunk) sum = (sum * 31 + byte) >>> 0;
        bytes += chunk.byteLength;
        body.pause();
        paused = true;
        setImmediate(() => {
          paused = false;
          body.resume();
        });
      },
      end: () => resolve(json(JSON.stringify({ announced: body.bytes ?? 'chunked', bytes, sum }))),
      fail: () => resolve(refuse('validation_error', 'body: it broke.')),
    });
  });
}

/** Reads only the first chunk of a body. */
function holdUp(x: Exchange): Promise<Outcome> {
  x.ownDeadline = true;
  const body = x.sink.incoming()!;
  return new Promise((resolve) => {
    body.open({
      piece: () => body.pause(),
      end: () => resolve(json('{}')),
      fail: () => resolve(refuse('engine_unavailable', 'It takes nothing.')),
    });
  });
}

/** `?BYTES,sized|chunked,end|fail,PIECE`: how many bytes, in which pieces, and how they end. */
function flow(x: Exchange): Outcome {
  return streamed(flowOf(x.head.query));
}

function streamed(body: StreamReply['body']): StreamReply {
  const broken = refuse('engine_unavailable', 'It broke.');
  return { kind: 'stream', status: 200, contentType: 'application/octet-stream', headers: [], body, broken };
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
