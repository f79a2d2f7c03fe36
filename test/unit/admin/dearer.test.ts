// What a change of plan makes dearer in the period that runs: what was included and becomes overage, a higher price, a limit below what
// is used; and nothing else.
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { dearerBy } from '../../../src/admin/dearer.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { Plan, QuotaPlan } from '../../../src/domain/plan.ts';
import { overageOf } from '../../../src/domain/usage-report.ts';
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
  ['from a quota to credit', quota(), credit(5), 1300, undefined],
  ['another length of periods begins a new one', quota(), quota({ characters: 1, period: 'P7D' }), 700, undefined],
])('%s', (_what, from, to, characters, by) => {
  expect(dearerBy(limitsOf(from), limitsOf(to), { characters, allowanceUsed: 0 })).toBe(by);
  expect(dearerBy(limitsOf(from), limitsOf(to), { characters: characters + 99, allowanceUsed: 99 })).toBe(by);
});

test('is never less than what the invoice of the period grows by', () => {
  const plan = fc
    .record({ characters: fc.nat(1000), overage_cap_minor: fc.nat(500), overage_minor_per_million: fc.nat(3_000_000) })
    .map((numbers) => limitsOf(quota(numbers)));
  fc.assert(
    fc.property(plan, plan, fc.nat(3000), (from, to, characters) => {
      const more = overageOf(characters, to).cost_minor - overageOf(characters, from).cost_minor;
      expect(dearerBy(from, to, { characters, allowanceUsed: 0 }) ?? 0).toBe(Math.max(0, more));
    }),
  );
});
