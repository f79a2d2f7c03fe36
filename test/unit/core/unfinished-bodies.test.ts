// Bodies that arrive slowly: who has most of them loses the newest, and nobody else any.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Gateway } from '../../../src/core/gateway.ts';
import type { Exchange, Sink } from '../../../src/core/exchange.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { Router } from '../../../src/core/router.ts';
import { UNFINISHED_MS, surplus } from '../../../src/core/unfinished-bodies.ts';

interface Begun {
  readonly bodyDue: boolean;
  readonly waiting: boolean;
  readonly answered: boolean;
  readonly who: string;
}

/** One letter a request, oldest first: whose it is; a capital one has its body, or is being judged. */
const lost = (letters: string, max: number): string => {
  const begun = letters.split('').map((who): Begun => ({ bodyDue: who >= 'a', waiting: false, answered: false, who }));
  const gone = surplus(begun as unknown as readonly Exchange[], { max, callerOf: (x) => (x as unknown as Begun).who });
  return letters
    .split('')
    .filter((_letter, index) => gone.includes(begun[index] as unknown as Exchange))
    .join('');
};

describe('of the requests whose bodies arrive', () => {
  test.each([
    ['none goes where they are not too many', 'aaaab', 5, ''],
    ['complete ones do not count', 'AAAAaaaab', 5, ''],
    ['the one caller with most of them loses the newest', 'aaaaaaaab', 5, 'aaaa'],
    ['two with as many lose as many', 'abababab', 4, 'abab'],
    ['smaller numbers stay whole, and what they leave is shared', 'aabbbbbbcccccc', 8, 'bbbccc'],
    ['with no room nobody keeps any', 'ab', 0, 'ab'],
  ])('%s', (_name, letters, max, gone) => {
    expect(lost(letters, max)).toBe(gone);
  });
});

describe('a gateway', () => {
  afterEach(() => vi.useRealTimers());

  test('calls the surplus off when it is old enough, and serves who sends the rest', () => {
    vi.useFakeTimers();
    let nowMs = 0;
    const sent: Outcome[] = [];
    const busy = refuse('service_unavailable', 'too many');
    const gateway = new Gateway({
      router: new Router([
        { method: 'POST', path: '/x', takesBody: true, steps: [{ kind: 'body', name: 'answer', run: () => json('{}') }] },
      ]),
      around: [],
      newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      now: () => nowMs,
      requestMs: 60_000,
      reportBug: () => undefined,
      unfinished: { max: 2, callerOf: () => '', refusal: busy },
    });
    const sink: Sink = {
      send: (_x, outcome) => (sent.push(outcome), 'written'),
      stream: () => undefined,
      incoming: () => undefined,
      remoteAddress: () => '',
    };
    const begun = Array.from({ length: 5 }, () => gateway.begin({ method: 'POST', path: '/x', query: '', headers: {} }, sink));
    nowMs = UNFINISHED_MS - 1;
    vi.advanceTimersByTime(250);
    expect(sent).toEqual([]);
    nowMs = UNFINISHED_MS;
    vi.advanceTimersByTime(250);
    expect(sent).toEqual([busy, busy, busy]);
    for (const x of begun) gateway.body(x, new Uint8Array());
    expect(sent.slice(3)).toEqual([json('{}'), json('{}')]);
    gateway.close();
  });
});
