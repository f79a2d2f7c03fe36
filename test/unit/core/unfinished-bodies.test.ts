// Bodies that arrive slowly: the sender with the most loses the newest, and no other loses any.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Gateway } from '../../../src/core/gateway.ts';
import { NO_CALLER } from '../../../src/core/exchange.ts';
import type { Exchange, Sink } from '../../../src/core/exchange.ts';
import { json } from '../../../src/core/outcome.ts';
import type { Outcome } from '../../../src/core/outcome.ts';
import { refuse } from '../../../src/core/problem.ts';
import { Router } from '../../../src/core/router.ts';
import { UNFINISHED_MS, surplus } from '../../../src/core/unfinished-bodies.ts';
import type { UnfinishedBodies } from '../../../src/core/unfinished-bodies.ts';

interface Begun {
  readonly stage: 'arriving' | 'whole';
  readonly waiting: boolean;
  readonly answered: boolean;
  readonly who: string;
}

/** One letter per request, oldest first, names its sender; a capital one has its body, or is being checked. One network for each key. */
const lost = (letters: string, max: number, keyOf = (x: Exchange) => (x as unknown as Begun).who): string => {
  const begun = letters.split('').map((who): Begun => ({ stage: who >= 'a' ? 'arriving' : 'whole', waiting: false, answered: false, who }));
  const gone = surplus(begun as unknown as readonly Exchange[], { max, keyOf, networkOf: (x) => (x as unknown as Begun).who });
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
    expect(lost(letters, max, () => '')).toBe(gone);
  });

  test('those without a key share its room by where they come from', () => {
    expect(lost('cdaaaacb', 4, (x) => ('ab'.includes((x as unknown as Begun).who) ? '' : 'key'))).toBe('aaac');
  });
});

describe('a gateway', () => {
  afterEach(() => vi.useRealTimers());

  const openGateway = (unfinished: Omit<UnfinishedBodies, 'refusal'>) => {
    vi.useFakeTimers();
    const clock = { nowMs: 0 };
    const sent: Outcome[] = [];
    const gateway = new Gateway({
      router: new Router([
        { method: 'POST', path: '/x', takesBody: true, steps: [{ kind: 'body', name: 'answer', run: () => json('{}') }] },
      ]),
      around: [],
      newId: () => '01ARZ3NDEKTSV4RRFFQ69G5FAV',
      now: () => clock.nowMs,
      requestMs: 60_000,
      reportBug: () => undefined,
      unfinished: { ...unfinished, refusal: busy },
    });
    const sink: Sink = { ...NO_CALLER, send: (_x, outcome) => (sent.push(outcome), 'written') };
    const begin = (receivedBytes = 0, query = '') =>
      gateway.begin({ method: 'POST', path: '/x', query, headers: {} }, { ...sink, receivedBytes });
    const at = (nowMs: number): void => {
      clock.nowMs = nowMs;
      vi.advanceTimersByTime(250);
    };
    return { gateway, begin, at, sent };
  };
  const busy = refuse('service_unavailable', 'too many');
  const anybody = { keyOf: () => '', networkOf: () => '', slowest: 1 };

  test('cancels the surplus when it is old enough, and serves those that become complete', () => {
    const { gateway, begin, at, sent } = openGateway({ max: 2, ...anybody });
    const begun = Array.from({ length: 5 }, () => begin());
    at(UNFINISHED_MS - 1);
    expect(sent).toEqual([]);
    at(UNFINISHED_MS);
    expect(sent).toEqual([busy, busy, busy]);
    for (const x of begun) gateway.body(x, new Uint8Array());
    expect(sent.slice(3)).toEqual([json('{}'), json('{}')]);
    gateway.close();
  });

  test('refuses a body that is too slow after ten seconds, unless its key is known', () => {
    const { gateway, begin, at, sent } = openGateway({ ...anybody, max: 9, slowest: 1024, keyOf: (x) => x.head.query });
    begin(10_239);
    begin(10_240);
    begin(0, 'key');
    at(9_999);
    expect(sent).toEqual([]);
    at(10_000);
    gateway.close();
    expect(sent).toEqual([refuse('validation_error', 'body: it did not arrive in time; send it faster or send less.')]);
  });
});
