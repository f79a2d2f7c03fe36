// What the ledger is asked about a caller: asked again with what it wants, and its refusals of callers.
import { expect, test } from 'vitest';
import type { Exchange } from '../../../../src/core/exchange.ts';
import { LATER } from '../../../../src/core/outcome.ts';
import type { StepResult } from '../../../../src/core/outcome.ts';
import { ADDRESS_REFUSED, keyRevoked, scopeMissing, UNKNOWN_KEY } from '../../../../src/domain/refusals.ts';
import { CLOSED } from '../../../../src/domain/scopes.ts';
import { keyDigestSlot, requestStatsSlot } from '../../../../src/domain/slots.ts';
import type { CallerRefusal } from '../../../../src/ports/ledger.ts';
import { CallerQuestion } from '../../../../src/steps/parts/caller-question.ts';
import type { CallerQuestionOptions } from '../../../../src/steps/parts/caller-question.ts';
import { exchange, REQUEST_ID } from '../exchange.ts';

type Answer = CallerRefusal | { readonly kind: 'admitted' };

interface TestOptions extends CallerQuestionOptions {
  readonly asked: TestQuestion[];
}

class TestQuestion extends CallerQuestion<Answer, TestOptions> {
  readonly tag = undefined;
  protected put(): void {
    this.options.asked.push(this);
  }

  protected again(x: Exchange): TestQuestion {
    return new TestQuestion(x, this.options);
  }

  protected decide(x: Exchange, answer: Answer): StepResult {
    return answer.kind === 'admitted' ? undefined : this.callerRefusal(x, answer);
  }
}

/** A question in the air; `answer` answers the latest. */
function asking() {
  const told: unknown[] = [];
  const asked: TestQuestion[] = [];
  const ends: StepResult[] = [];
  const x = exchange();
  x.set(keyDigestSlot, 'digest');
  x.driver = { resume: (_x, conclude, value) => void ends.push(conclude(x, value)) };
  let nowMs = 0;
  const options: TestOptions = {
    asked,
    cache: {
      peek: () => undefined,
      find: () => undefined,
      noteWanted: (...what) => void told.push(what),
      forget: (digest) => void told.push(`forget ${digest}`),
    },
    full: { isEmpty: true, note: (_caller, refused) => void told.push(refused), refusal: () => undefined },
    client: { fields: [], headers: [], of: () => '192.0.2.1', read: () => '192.0.2.1' },
    rateLimitHeaders: false,
    now: () => nowMs++,
  };
  expect(new TestQuestion(x, options).ask()).toBe(LATER);
  const answer = (kind: Answer): StepResult => {
    asked.at(-1)!.answered(kind);
    return ends.at(-1);
  };
  return { x, asked, told, answer };
}

test('it carries whose key it is, and each answer counts as time of the store', () => {
  const { x, asked, answer } = asking();
  expect(asked).toMatchObject([{ requestId: REQUEST_ID, teamId: 'T', keyId: 'K', address: undefined, scope: undefined }]);
  expect(answer({ kind: 'admitted' })).toBeUndefined();
  expect(x.need(requestStatsSlot).storeMs).toBe(1);
});

test('what the store wants is sent with the next question, and remembered for the key', () => {
  const { asked, told, answer } = asking();
  expect([answer({ kind: 'address_wanted' }), answer({ kind: 'scope_wanted' })]).toEqual([LATER, LATER]);
  expect(asked.map(({ address, scope }) => [address, scope])).toEqual([
    [undefined, undefined],
    ['192.0.2.1', undefined],
    ['192.0.2.1', CLOSED],
  ]);
  expect(told).toEqual([
    ['digest', 'addressWanted'],
    ['digest', 'scopeWanted'],
  ]);
  // A store that wants it all the same gets no third one.
  expect([answer({ kind: 'scope_wanted' }), asked.length]).toEqual([scopeMissing(CLOSED), 3]);
});

test('for a caller who has left nothing is asked again', () => {
  const { x, asked, answer } = asking();
  x.cancel();
  expect([answer({ kind: 'address_wanted' }), asked.length]).toEqual([ADDRESS_REFUSED, 1]);
});

test.each<[CallerRefusal, unknown, unknown[]]>([
  [{ kind: 'key_unknown' }, UNKNOWN_KEY, ['forget digest']],
  [{ kind: 'key_revoked', reason: 'disabled' }, keyRevoked('disabled'), []],
  [{ kind: 'address_refused' }, ADDRESS_REFUSED, []],
  [{ kind: 'scope_missing' }, scopeMissing(CLOSED), []],
])('%j', (refused, refusal, noted) => {
  const { told, answer } = asking();
  expect(answer(refused)).toEqual(refusal);
  expect(told).toEqual(noted);
});

test('a rate that is exceeded is a 429, and known from then on', () => {
  const { told, answer } = asking();
  const refused = { kind: 'rate_limited', limit: 5, retryAfterMs: 800, fullForMs: 799 } as const;
  expect(answer(refused)).toMatchObject({ problem: { code: 'rate_limited' } });
  expect(told).toEqual([refused]);
});

test('a bug of the store is thrown where the chain goes on', () => {
  const { asked } = asking();
  expect(() => asked[0]!.failed(new Error('a bug'))).toThrow('a bug');
});
