// A step that misbehaves.
import { expect, test } from 'vitest';
import { NO_CALLER } from '../../../src/core/exchange.ts';
import type { Sink } from '../../../src/core/exchange.ts';
import { Gateway } from '../../../src/core/gateway.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { Router } from '../../../src/core/router.ts';
import type { BodyStep } from '../../../src/core/pipeline.ts';

// oxlint-disable-next-line unicorn/no-thenable -- what a plugin may return by mistake
const MALFORMED: readonly unknown[] = [null, {}, { kind: 'done' }, 'ok', 200, { then: () => undefined }];
test.each(MALFORMED)('a step that returns %j, at once or later, is a bug and answered', async (given) => {
  const isThenable = typeof given === 'object' && given !== null && 'then' in given;
  const runs: BodyStep['run'][] = [() => given as Outcome, () => Promise.resolve(isThenable ? {} : given) as Promise<Outcome>];
  for (const run of runs) {
    const sent: Outcome[] = [];
    const bugs: string[] = [];
    const gateway = new Gateway({
      router: new Router([{ method: 'POST', path: '/x', takesBody: true, steps: [{ kind: 'body', name: 'a', run }] }]),
      around: [],
      newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      now: () => 0,
      requestMs: 1000,
      reportBug: (_x, where) => bugs.push(where),
    });
    const sink: Sink = { ...NO_CALLER, send: (_x, outcome) => (sent.push(outcome), 'written') };
    gateway.body(gateway.begin({ method: 'POST', path: '/x', query: '', headers: {} }, sink), new Uint8Array());
    await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toMatchObject([{ problem: { code: 'internal_error' } }]);
    expect(bugs).toEqual(['a']);
  }
});
