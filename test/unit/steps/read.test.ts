// The step that reads a translation: what it passes on to the admission and to later steps, and that it releases the body.
import { expect, test } from 'vitest';
import { Exchange, NO_CALLER } from '../../../src/core/exchange.ts';
import { compileRoute } from '../../../src/core/route.ts';
import { chargeSlot, judgeAgainSlot, planSlot, translateRequestSlot } from '../../../src/domain/slots.ts';
import { capabilitiesOf } from '../../../src/domain/translation-options.ts';
import { offersOf } from '../../../src/domain/engine-offer.ts';
import type { EngineOffers, OfferedEngine } from '../../../src/domain/engine-offer.ts';
import { readStep } from '../../../src/steps/translate.ts';

const TABLE = {
  sources: [{ code: 'EN', name: 'English' }],
  targets: ['DE', 'FR'].map((code) => ({ code, name: code, formality: true })),
};
const can = capabilitiesOf();
const small: OfferedEngine = { name: 'small', can: { ...can, formality: false }, pairs: (_source, target) => target === 'DE' };
const large: OfferedEngine = { name: 'large', can, pairs: undefined };
const ONE = offersOf(TABLE, [{ ...large, name: 'default' }], undefined);
const BY_PLAN = offersOf(TABLE, [small, large], [{ plans: ['free'], engines: ['small'] }, { engines: ['large'] }]);
const route = compileRoute({ method: 'POST', path: '/x', takesBody: true, steps: [] });

function read(offers: EngineOffers, body: object | string): Exchange {
  const head = { method: 'POST', path: '/x', query: '', headers: { 'content-type': 'application/json' } };
  const x = new Exchange('ID', head, NO_CALLER, route, 0);
  x.body = new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  expect(readStep({ current: offers }, 1000).run(x)).toBeUndefined();
  expect(x.body).toBe('none');
  return x;
}

test.each([
  ['one engine', ONE],
  ['rules by plan', BY_PLAN],
])('%s: a valid request leaves its charge for the admission, and itself for the engine', (_name, offers) => {
  const x = read(offers, { text: ['Hello', 'you'], target_lang: 'fr', formality: 'more' });
  expect(x.get(chargeSlot)).toEqual({ characters: 8, reserve: true, glossary: undefined, refusal: undefined });
  expect(x.get(translateRequestSlot)).toMatchObject({ text: ['Hello', 'you'], options: { targetLang: 'FR', formality: 'more' } });
});

test.each<[name: string, body: object | string, detail: string, characters: number | undefined]>([
  ['that is not JSON', '{', 'JSON', undefined],
  ['without texts', { text: [], target_lang: 'DE' }, 'text: ', undefined],
  ['with another source', { text: ['Hello'], target_lang: 'DE', source_lang: 'XX' }, 'source_lang: ', 5],
])('a body %s is refused after the admission', (_name, body, detail, characters) => {
  const x = read(ONE, body);
  expect(x.get(chargeSlot)).toMatchObject({
    characters,
    reserve: false,
    refusal: { problem: { detail: expect.stringContaining(detail) as string } },
  });
  expect(x.get(translateRequestSlot)).toBeUndefined();
});

test('a request is checked once if nothing depends on the plan', () => {
  expect(read(ONE, { text: ['Hello'], target_lang: 'FR' }).get(judgeAgainSlot)).toBeUndefined();
});

test('if rules name plans, it is checked again against what its own plan offers', () => {
  const x = read(BY_PLAN, { text: ['Hello'], target_lang: 'DE', formality: 'prefer_more' });
  const again = x.get(judgeAgainSlot)!;
  expect(x.need(translateRequestSlot).options.formality).toBe('prefer_more');
  x.set(planSlot, 'free');
  expect(again.judge()).toBeUndefined();
  expect(x.need(translateRequestSlot).options.formality).toBeUndefined();
  const other = read(BY_PLAN, { text: ['Hello'], target_lang: 'FR' });
  expect(other.need(chargeSlot).refusal).toBeUndefined();
  other.set(planSlot, 'free');
  expect(other.get(judgeAgainSlot)!.judge()).toMatchObject({
    problem: { code: 'validation_error', detail: expect.stringContaining('offered: DE') as string },
  });
});
