// What a change of plan makes costlier in the period that runs: what was included and becomes overage or is paid by credit, a higher price,
// a limit below what is used; and nothing else.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { costlierBy } from '../../../src/admin/plan-change.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { Plan, QuotaPlan } from '../../../src/domain/plan.ts';
import { overageOf } from '../../../src/domain/usage-days.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';

const quota = (more: Partial<QuotaPlan> = {}): Plan => ({
  ...QUOTA_PLAN,
  characters: 1000,
  overage_cap_minor: 1000,
  overage_minor_per_million: 1_000_000,
  ...more,
});
const credit = (minor: number): Plan => ({ ...CREDIT_PLAN, credit_minor_per_million: minor });
const NONE = { overage_cap_minor: 0, overage_minor_per_million: 0 };

test.each<[string, Plan, Plan, used: number, by: number | undefined]>([
  ['the same plan', quota(), quota(), 5000, undefined],
  ['what was included becomes overage', quota(), quota({ characters: 400 }), 700, 300],
  ['a lower limit above what is used', quota(), quota({ characters: 800 }), 700, undefined],
  ['a higher price of overage', quota(), quota({ overage_minor_per_million: 1_500_000 }), 1100, 50],
  ['a higher price before there is overage', quota(), quota({ overage_minor_per_million: 1_500_000 }), 10, 0],
  ['a higher price of overage that is not sold', quota(NONE), quota({ ...NONE, overage_minor_per_million: 5 }), 10, undefined],
  ['overage is sold from now on, where requests were refused', quota(NONE), quota(), 10, undefined],
  ['a lower price', quota(), quota({ overage_minor_per_million: 900_000 }), 1100, undefined],
  ['a higher cap', quota(), quota({ overage_cap_minor: 2000 }), 1500, undefined],
  ['a limit below what is used, without overage', quota(NONE), quota({ ...NONE, characters: 500 }), 700, 0],
  [
    'a limit below what is used that was so before',
    quota({ ...NONE, characters: 600 }),
    quota({ ...NONE, characters: 500 }),
    700,
    undefined,
  ],
  ['a higher price of credit: what was spent stays spent', credit(5), credit(6), 700, 0],
  ['a lower price of credit', credit(5), credit(4), 700, undefined],
  ['from credit to a quota: what was paid for becomes overage', credit(5), quota(), 1300, 300],
  ['from a quota to credit: included characters that are left have a price', quota(), credit(5), 700, 0],
  ['from a quota of which nothing is used to credit', quota(), credit(5), 0, undefined],
  ['from a quota to credit without a price', quota(), credit(0), 700, undefined],
  ['from a quota to credit, with nothing included left and a lower price than overage', quota(), credit(5), 1300, undefined],
  ['from a quota to credit, with a higher price than overage', quota(), credit(1_500_000), 1300, 0],
  ['from a quota that is used up and sells nothing to credit', quota(NONE), credit(5), 1000, undefined],
  ['from credit to a quota with a higher price of overage, behind what is included', credit(5), quota(), 10, undefined],
  ['from credit to a quota without overage', credit(5), quota(NONE), 10, undefined],
  ['from credit to a quota that is used up', credit(5), quota(NONE), 1300, 0],
  ['a price in another currency', quota(), quota({ currency: 'JPY', overage_minor_per_million: 1 }), 10, 0],
  ['overage so far, in another currency', quota(), quota({ currency: 'JPY' }), 1300, 300],
  ['what test keys use has a price from now on', quota({ test_keys: { characters: 500 } }), quota(), 10, 0],
  ['test keys have more for nothing', quota({ test_keys: { characters: 500 } }), quota({ test_keys: { characters: 600 } }), 10, undefined],
  ['another length of periods begins a new one', quota(), quota({ characters: 1, period: 'P7D' }), 700, undefined],
])('%s', (_what, from, to, characters, by) => {
  expect(costlierBy(limitsOf(from), limitsOf(to), { characters, allowanceUsed: 0 })).toBe(by);
  expect(costlierBy(limitsOf(from), limitsOf(to), { characters: characters + 99, allowanceUsed: 99 })).toBe(by);
});

test('is never less than what the invoice of the period grows by', () => {
  const plan = fc
    .record({ characters: fc.nat(1000), overage_cap_minor: fc.nat(500), overage_minor_per_million: fc.nat(3_000_000) })
    .map((numbers) => limitsOf(quota(numbers)));
  fc.assert(
    fc.property(plan, plan, fc.nat(3000), (from, to, characters) => {
      const more = overageOf(characters, to).cost_minor - overageOf(characters, from).cost_minor;
      expect(costlierBy(from, to, { characters, allowanceUsed: 0 }) ?? 0).toBe(Math.max(0, more));
    }),
  );
});

test.each<[string, allowance: number, used: number, by: number | undefined]>([
  ['below what test keys have used', 300, 400, 0],
  ['above it', 300, 300, undefined],
])('fewer free characters for test keys: %s', (_what, characters, allowanceUsed, by) => {
  const [from, to] = [quota({ test_keys: { characters: 500 } }), quota({ test_keys: { characters } })].map(limitsOf);
  expect(costlierBy(from!, to!, { characters: allowanceUsed + 7, allowanceUsed })).toBe(by);
});

const DAY: Plan['limits'] = [{ per: 'day', requests: 100, characters: 1000 }];

test.each<[string, Plan['limits'], usedRequests: number, usedCharacters: number, by: number | undefined]>([
  ['fewer requests than were counted', [{ per: 'day', requests: 50, characters: 1000 }], 51, 0, 0],
  ['as many requests as were counted', [{ per: 'day', requests: 50, characters: 1000 }], 50, 0, undefined],
  ['fewer characters than were counted', [{ per: 'day', requests: 100, characters: 500 }], 1, 501, 0],
  ['below what is used, but so it was before', [{ per: 'day', requests: 50, characters: 1000 }], 101, 0, undefined],
  ['another time, which counts from now on', [{ per: 'hour', requests: 1 }], 51, 501, undefined],
  ['none any more', [], 51, 501, undefined],
])('a limit by the day: %s', (_what, limits, usedRequests, usedCharacters, by) => {
  const [from, to] = [quota({ limits: DAY }), quota({ limits: limits! })].map(limitsOf);
  const windows = [{ per: 'day', requests: 100, characters: 1000, usedRequests, usedCharacters, endMs: 0 } as const];
  expect(costlierBy(from!, to!, { characters: usedCharacters, allowanceUsed: 0, windows })).toBe(by);
});
