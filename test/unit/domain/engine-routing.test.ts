// Routing rules: which one matches a plan and a pair, and which can never match.
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readRules, ruleFor, uselessRules } from '../../../src/domain/engine-routing.ts';
import type { RoutingRule } from '../../../src/domain/engine-routing.ts';
import { faultOfPair } from '../../../src/domain/engine-routing.ts';
import type { LanguageTable } from '../../../src/domain/languages.ts';

const TABLE: LanguageTable = {
  sources: ['DE', 'EN', 'ES'].map((code) => ({ code, name: code })),
  targets: ['DE', 'EN-GB', 'EN-US', 'ES'].map((code) => ({ code, name: code, formality: false })),
};
const RULES: readonly RoutingRule[] = [
  { plans: ['free'], engines: ['small'] },
  { pairs: ['*-EN-GB', 'de-*'], engines: ['large', 'small'] },
  { plans: ['pro', 'max'], pairs: ['ES-EN'], engines: ['other'] },
  { pairs: ['*-ES'], engines: ['small', 'large'] },
];

describe('the first rule that matches', () => {
  test.each<[plan: string | undefined, source: string | undefined, target: string, rule: number]>([
    ['free', 'EN', 'ES', 0],
    ['free', undefined, 'ES', 0],
    ['pro', 'EN', 'EN-GB', 1],
    ['pro', undefined, 'EN-GB', 1],
    ['pro', 'DE', 'ES', 1],
    // A rule with a source does not match a request without one.
    ['pro', undefined, 'DE', -1],
    ['pro', undefined, 'EN-US', -1],
    // A base code as a target stands for all its variants.
    ['max', 'ES', 'EN-US', 2],
    ['other', 'ES', 'EN-US', -1],
    ['', 'ES', 'EN-US', -1],
    [undefined, 'ES', 'EN-US', -1],
    ['other', 'EN', 'ES', 3],
    ['other', undefined, 'ES', 3],
    ['other', 'EN', 'DE', -1],
  ])('plan %s, from %s to %s: rule %i', (plan, source, target, rule) => {
    expect(ruleFor(readRules(RULES, [], TABLE), plan, source, target)).toBe(rule);
  });

  test('without rules is all engines in their order', () => {
    const [rule, ...more] = readRules(undefined, [{ name: 'b' }, { name: 'a' }], TABLE);
    expect([rule!.engines, rule!.plans, rule!.fitsPair(undefined, 'DE'), more]).toEqual([['b', 'a'], undefined, true, []]);
  });
});

describe('a rule that can never match', () => {
  const all = { engines: ['a'] };
  test.each<[name: string, rules: readonly RoutingRule[], useless: readonly (readonly [number, number | undefined])[]]>([
    ['none', RULES, []],
    ['after one that matches everything', [all, { plans: ['free'], engines: ['b'] }], [[1, 0]]],
    [
      'the same rule again',
      [
        { pairs: ['EN-DE'], engines: ['a'] },
        { pairs: ['en-de'], engines: ['b'] },
      ],
      [[1, 0]],
    ],
    [
      'narrower',
      [
        { pairs: ['*-EN'], engines: ['a'] },
        { plans: ['free'], pairs: ['DE-EN-US'], engines: ['b'] },
      ],
      [[1, 0]],
    ],
    [
      'covered by two together',
      [
        { pairs: ['EN-*'], engines: ['a'] },
        { pairs: ['ES-*', 'DE-*'], engines: ['a'] },
        { pairs: ['ES-DE', 'EN-DE'], engines: ['b'] },
      ],
      [[2, undefined]],
    ],
    // Requests without a source are left for it.
    ['every source, but not requests without one', [{ pairs: ['EN-*', 'ES-*', 'DE-*'], engines: ['a'] }, all], []],
    // Plans that no rule names are left for it.
    ['every plan that is named', [{ plans: ['free', 'pro'], engines: ['a'] }, all], []],
    ['for plans that were all covered', [{ plans: ['free', 'pro'], engines: ['a'] }, { plans: ['pro'], engines: ['b'] }, all], [[1, 0]]],
  ])('%s', (_name, rules, useless) => {
    expect([...uselessRules(rules, TABLE)]).toEqual(useless);
  });

  test('is exactly one that is never the first match of any request', () => {
    const codes = { source: ['*', 'DE', 'EN', 'ES'], target: ['*', 'DE', 'EN', 'EN-GB', 'EN-US', 'ES'] };
    const pair = fc.tuple(fc.constantFrom(...codes.source), fc.constantFrom(...codes.target)).map((both) => both.join('-'));
    const rule = fc.record({
      plans: fc.option(fc.uniqueArray(fc.constantFrom('a', 'b'), { minLength: 1 }), { nil: undefined }),
      pairs: fc.option(fc.uniqueArray(pair, { minLength: 1, maxLength: 4 }), { nil: undefined }),
      engines: fc.constant(['x']),
    });
    fc.assert(
      fc.property(fc.array(rule, { minLength: 1, maxLength: 5 }), (rules) => {
        const read = readRules(rules, [], TABLE);
        const first = new Set<number>();
        for (const plan of ['a', 'b', 'c']) {
          for (const source of ['DE', 'EN', 'ES', undefined]) {
            for (const { code } of TABLE.targets) first.add(ruleFor(read, plan, source, code));
          }
        }
        expect([...uselessRules(rules, TABLE).keys()]).toEqual([...rules.keys()].filter((index) => !first.has(index)));
      }),
      { numRuns: 200 },
    );
  });
});

test.each([
  ['*-EN-GB', undefined],
  ['de-*', undefined],
  ['*-*', undefined],
  ['*-EN', undefined],
  ['EN', 'does not begin with a source code'],
  ['XX-DE', 'nor with *; write SOURCE-TARGET'],
  ['EN-GB-DE', 'GB-DE is neither a target code'],
  ['*-XX', 'XX is neither a target code'],
  ['*', 'does not begin with a source code'],
])('the pair %s of a rule: %s', (pair, fault) => {
  if (fault === undefined) expect(faultOfPair(pair, TABLE, true)).toBeUndefined();
  else expect(faultOfPair(pair, TABLE, true)).toContain(fault);
  // Only rules may have a star.
  if (pair.includes('*')) expect(faultOfPair(pair, TABLE)).toBeDefined();
});
