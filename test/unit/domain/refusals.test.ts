// The answer to a request that exceeds a rate: its fields, and whose limit it names.
import { expect, test } from 'vitest';
import { Exchange } from '../../../src/core/exchange.ts';
import type { Sink } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { tooManyRequests } from '../../../src/domain/refusals.ts';
import { NO_STATS, requestStatsSlot } from '../../../src/domain/slots.ts';

const SINK: Sink = { send: () => 'written', stream: () => undefined, incoming: () => undefined, remoteAddress: () => '' };

function refused(passed: Parameters<typeof tooManyRequests>[1], reports: boolean) {
  const route = compileRoute({ method: 'GET', path: '/', takesBody: false, steps: [] }, 'test');
  const x = new Exchange('01', { method: 'GET', path: '/', query: '', headers: {} }, SINK, route, 0);
  x.responseHeaders = [['X-Trace', 'kept']];
  x.set(requestStatsSlot, { ...NO_STATS });
  const { problem } = tooManyRequests(x, passed, reports);
  return {
    detail: problem.detail,
    fields: problem.fields,
    headers: problem.headers,
    added: x.responseHeaders,
    limitOf: x.need(requestStatsSlot).limitOf,
  };
}

test.each([
  [1, '1'],
  [1000, '1'],
  [1000.5, '2'],
])('after %d ms a caller may retry in %s whole seconds', (retryAfterMs, seconds) => {
  expect(refused({ limit: 5, retryAfterMs }, false)).toEqual({
    detail: 'At most 5 requests per second are allowed for the team, across all of its keys.',
    fields: { limit: 5 },
    headers: [
      ['Retry-After', seconds],
      ['X-RateLimit-Limit', '5'],
    ],
    added: [['X-Trace', 'kept']],
    limitOf: 'team',
  });
});

test('the limit of a key is named as such, also in the fields that report the rate', () => {
  const { detail, added, limitOf } = refused({ limit: 3, retryAfterMs: 10, of: 'key' }, true);
  expect({ detail, limitOf }).toEqual({ detail: 'At most 3 requests per second are allowed for this key.', limitOf: 'key' });
  expect(added).toEqual([
    ['X-Trace', 'kept'],
    ['RateLimit-Policy', '"key-requests";q=3;w=1'],
    ['RateLimit', '"key-requests";r=0;t=1'],
  ]);
});
