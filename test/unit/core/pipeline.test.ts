// The pipeline: the order of steps, settling, and steps that misbehave.
import { describe, expect, test } from 'vitest';
import type { Exchange, RequestHead, Sink } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep, Step } from '../../../src/core/step.ts';

const HEAD: RequestHead = { method: 'POST', path: '/x', query: '', headers: {} };

interface Harness {
  readonly gateway: Gateway;
  readonly sent: Outcome[];
  readonly bugs: string[];
  readonly sink: Sink;
  advance(ms: number): void;
}

function harness(steps: readonly Step[], requestMs = 1000): Harness {
  let nowMs = 0;
  const sent: Outcome[] = [];
  const bugs: string[] = [];
  const gateway = new Gateway({
    router: new Router([{ method: 'POST', path: '/x', takesBody: true, steps }]),
    around: [],
    newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
    now: () => nowMs,
    requestMs,
    reportBug: (_x, where) => bugs.push(where),
  });
  return {
    gateway,
    sent,
    bugs,
    sink: {
      send: (_x, outcome) => (sent.push(outcome), 'written'),
      stream: () => undefined,
      incoming: () => undefined,
      remoteAddress: () => '',
      receivedBytes: 0,
    },
    advance: (ms) => (nowMs += ms),
  };
}

function body(name: string, run: BodyStep['run'], settle?: BodyStep['settle']): BodyStep {
  return settle === undefined ? { kind: 'body', name, run } : { kind: 'body', name, run, settle };
}

function go(h: Harness): Exchange {
  const x = h.gateway.begin(HEAD, h.sink);
  h.gateway.body(x, new Uint8Array());
  return x;
}

describe('the pipeline', () => {
  // oxlint-disable-next-line unicorn/no-thenable -- what a plugin may return by mistake
  const MALFORMED: readonly unknown[] = [null, {}, { kind: 'done' }, 'ok', 200, { then: () => undefined }];
  test.each(MALFORMED)('a step that returns %j, at once or later, is a bug and answered', async (given) => {
    const isThenable = typeof given === 'object' && given !== null && 'then' in given;
    const runs: BodyStep['run'][] = [() => given as Outcome, () => Promise.resolve(isThenable ? {} : given) as Promise<Outcome>];
    for (const run of runs) {
      const h = harness([body('a', run)]);
      go(h);
      await new Promise((resolve) => setImmediate(resolve));
      expect(h.sent).toMatchObject([{ problem: { code: 'internal_error' } }]);
      expect(h.bugs).toEqual(['a']);
    }
  });
});
