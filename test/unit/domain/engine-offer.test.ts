// What several engines offer: the lists, the engines for each request, and what none of them supports.
import { describe, expect, test } from 'vitest';
import type { EngineCapabilities, TranslationOptions } from '../../../src/domain/translation-options.ts';
import { offersOf, routeFor } from '../../../src/domain/engine-offer.ts';
import { NOTHING_CHOSEN, wantsOf } from '../../../src/domain/translation-options.ts';
import type { EngineOffer, OfferedEngine } from '../../../src/domain/engine-offer.ts';
import type { RoutingRule } from '../../../src/domain/engine-routing.ts';
import type { LanguageTable } from '../../../src/domain/languages.ts';
import { UNABLE } from '../../support/offers.ts';

const TABLE: LanguageTable = {
  sources: ['DE', 'EN', 'ES'].map((code) => ({ code, name: code })),
  targets: ['DE', 'EN-GB', 'ES'].map((code) => ({ code, name: code, formality: code !== 'EN-GB' })),
};
function engine(name: string, can: Partial<EngineCapabilities> = {}, pairs?: readonly string[]): OfferedEngine {
  return { name, can: { ...UNABLE, ...can }, pairs: pairs && ((source, target) => pairs.includes(`${source}-${target}`)) };
}

const ENGINES = [
  engine('small', { detection: true }, ['EN-DE', 'DE-EN-GB', 'EN-ES']),
  engine('large', { formality: true, formats: ['text', 'html'] }),
  engine('terms', { glossaries: true }),
];
const RULES: readonly RoutingRule[] = [
  { plans: ['free'], engines: ['small'] },
  { pairs: ['DE-*'], engines: ['large', 'terms'] },
  { pairs: ['*-DE', '*-EN-GB'], engines: ['small', 'large', 'terms'] },
];
/** What no engine supports. */
function lackOf(...request: Parameters<typeof routeFor>): string | undefined {
  const route = routeFor(...request);
  return typeof route === 'string' ? route : undefined;
}

const offers = offersOf(TABLE, ENGINES, RULES);
const asked = (options: Partial<TranslationOptions>): TranslationOptions => ({ ...NOTHING_CHOSEN, targetLang: 'DE', ...options });
const namesOf = (offer: EngineOffer, options: TranslationOptions, hasGlossary = false): readonly string[] | string => {
  const route = offer.route(options.sourceLang, options.targetLang)?.withAll(wantsOf(options, hasGlossary));
  return typeof route === 'object' ? route.names : (lackOf(offer, options, hasGlossary) ?? 'nothing');
};

describe('a request gets', () => {
  test.each<[plan: string | undefined, options: Partial<TranslationOptions>, hasGlossary: boolean, engines: readonly string[] | string]>([
    ['free', { sourceLang: 'EN' }, false, ['small']],
    ['free', { sourceLang: 'ES' }, false, 'pair'],
    ['free', { sourceLang: 'EN', formality: 'more' }, false, 'formality'],
    ['free', { sourceLang: 'EN' }, true, 'glossary'],
    ['free', { sourceLang: 'EN', format: 'html' }, false, 'html'],
    ['pro', { sourceLang: 'EN' }, false, ['small', 'large', 'terms']],
    ['pro', { sourceLang: 'ES' }, false, ['large', 'terms']],
    ['pro', { sourceLang: 'EN', formality: 'less' }, false, ['large']],
    ['pro', { sourceLang: 'EN', formality: 'prefer_more' }, false, ['small', 'large', 'terms']],
    ['pro', { sourceLang: 'EN' }, true, ['terms']],
    // Each is supported, but not both by one engine.
    ['pro', { sourceLang: 'EN', formality: 'more' }, true, 'glossary'],
    ['pro', { sourceLang: 'EN', format: 'html' }, false, ['large']],
    ['pro', { sourceLang: 'EN', format: 'xml' }, false, 'xml'],
    ['pro', { sourceLang: 'DE' }, false, ['large', 'terms']],
    // The rule with a source does not match; a small engine has some source for the target.
    ['pro', {}, false, ['small', 'large', 'terms']],
    ['pro', { sourceLang: 'EN', targetLang: 'ES' }, false, 'pair'],
    ['pro', { targetLang: 'ES' }, false, 'pair'],
    // Before the plan is known: the engines of any plan.
    [undefined, { sourceLang: 'EN', targetLang: 'ES' }, false, ['small']],
    [undefined, { sourceLang: 'EN', formality: 'more' }, false, ['large']],
  ])('plan %s, %o, glossary %s: %s', (plan, options, hasGlossary, engines) => {
    expect(namesOf(offers.of(plan), asked(options), hasGlossary)).toEqual(engines);
  });

  test('the offer before the plan is known refuses nothing that a plan offers', () => {
    for (const plan of ['free', 'pro', '']) {
      for (const sourceLang of ['DE', 'EN', 'ES', undefined]) {
        for (const targetLang of ['DE', 'EN-GB', 'ES']) {
          for (const formality of [undefined, 'more']) {
            for (const hasGlossary of [false, true]) {
              const options = asked({ sourceLang, targetLang, formality });
              if (lackOf(offers.of(plan), options, hasGlossary) === undefined) {
                expect(lackOf(offers.any, options, hasGlossary)).toBeUndefined();
              }
            }
          }
        }
      }
    }
  });
});

describe('the lists show what a plan offers', () => {
  const codes = (offer: EngineOffer): object => ({
    from: offer.languages.sources.map(({ code }) => code),
    to: offer.languages.targets.map(({ code, formality }) => (formality ? `${code}+` : code)),
  });

  test.each([
    ['free', { from: ['DE', 'EN'], to: ['DE', 'EN-GB', 'ES'] }],
    ['pro', { from: ['DE', 'EN', 'ES'], to: ['DE+', 'EN-GB', 'ES+'] }],
    [undefined, { from: ['DE', 'EN', 'ES'], to: ['DE+', 'EN-GB', 'ES+'] }],
  ])('of plan %s', (plan, lists) => {
    expect(codes(offers.of(plan))).toEqual(lists);
  });

  test('a target that needs a given source is listed, and not offered without one', () => {
    const { languages } = offers.of('pro');
    expect([languages.isReached('ES'), languages.offers(undefined, 'ES'), languages.offers('DE', 'ES')]).toEqual([true, false, true]);
  });

  test('a language is detected by the engines that can, of any of the plan’s rules', () => {
    expect(offers.of('pro').detection).toEqual({ names: ['small'], targetLang: 'EN-GB' });
    expect(offersOf(TABLE, ENGINES, [{ engines: ['large'] }]).any.detection).toBeUndefined();
  });
});

test('without rules all engines are tried in order, and nothing depends on the plan', () => {
  const plain = offersOf(TABLE, ENGINES, undefined);
  expect([plain.byPlan, plain.isRouted, plain.of('free') === plain.any]).toEqual([false, true, true]);
  expect(namesOf(plain.any, asked({ sourceLang: 'ES' }))).toEqual(['large', 'terms']);
});

test('with one engine and no rules work has no list of engines; what is unsupported is refused all the same', () => {
  const one = offersOf(TABLE, [{ ...ENGINES[0]!, name: 'default' }], undefined);
  expect([one.byPlan, one.isRouted]).toEqual([false, false]);
  expect(one.any.languages.targets.some(({ formality }) => formality)).toBe(false);
  expect(lackOf(one.any, asked({ sourceLang: 'EN' }), true)).toBe('glossary');
  expect(lackOf(one.any, asked({ sourceLang: 'ES' }))).toBe('pair');
  expect(lackOf(one.any, asked({ sourceLang: 'EN' }))).toBeUndefined();
});
