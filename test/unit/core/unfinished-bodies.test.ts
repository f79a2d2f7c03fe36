// Bodies that arrive slowly: the sender with the most loses the newest, and no other loses any.
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

/** One letter per request, oldest first, names its sender; a capital one has its body, or is being checked. */
const lost = (letters: string, max: number): string => {
  const begun = letters.split('').map((who): Begun => ({ bodyDue: who >= 'a', waiting: false, answered: false, who }));
  const gone = surplus(begun as unknown as readonly Exchange[], { max, callerOf: (x) => (x as unknown as Begun).who });
  return letters
    .split('')
    .filter((_letter, index) => gone.includes(begun[index] as unknown as Exchange))
    .join('');
};

describe('of requests with unfinished bodies', () => {
  test.each([
    ['none is dropped if they are not too many', 'aaaab', 5, ''],
    ['complete ones do not count', 'AAAAaaaab', 5, ''],
    ['the sender with the most loses the newest', 'aaaaaaaab', 5, 'aaaa'],
    ['two senders with equally many lose equally many', 'abababab', 4, 'abab'],
    ['senders with few keep all of theirs, and the others share the rest', 'aabbbbbbcccccc', 8, 'bbbccc'],
    ['without room all are dropped', 'ab', 0, 'ab'],
  ])('%s', (_name, letters, max, gone) => {
    expect(lost(letters, max)).toBe(gone);
  });
});

describe('a gateway', () => {
  afterEach(() => vi.useRealTimers());

  test('cancels the surplus when it is old enough, and serves those that become complete', () => {
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
