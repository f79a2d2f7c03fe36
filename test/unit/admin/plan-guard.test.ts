// Which gateways' numbers are other numbers: those of the plan alone, of gateways that ran within the last minute.
import { expect, test } from 'vitest';
import { gatewaysWithOtherNumbers } from '../../../src/admin/plan-guard.ts';
import { numberChanges } from '../../../src/admin/plan-numbers.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { GatewayRecord } from '../../../src/ports/gateway-records.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';

const QUOTA = limitsOf(QUOTA_PLAN);
const CREDIT = limitsOf(CREDIT_PLAN);
const FAST = { ...QUOTA, requestsPerSecond: 5 };
const record = (file: string, plans: GatewayRecord['plans']): GatewayRecord => ({ host: 'here', file, plans });

async function others(...records: readonly GatewayRecord[]) {
  const asked: number[] = [];
  const recent = async (withinMs: number) => (asked.push(withinMs), records);
  const found = await gatewaysWithOtherNumbers({ recent, leave: async () => undefined }, 'pro', QUOTA);
  expect(asked).toEqual([60_000]);
  return found;
}

test('only a gateway that has the plan, with another number, counts', async () => {
  expect(await others()).toEqual([]);
  expect(await others(record('/same', { pro: QUOTA }), record('/without', { free: FAST }), record('/proto', {}))).toEqual([]);
  expect(await others(record('/same', { pro: QUOTA }), record('/other', { pro: FAST, free: QUOTA }))).toEqual([
    { host: 'here', file: '/other', differences: [{ number: 'requests_per_second', from: 5, to: QUOTA.requestsPerSecond }] },
  ]);
});

test('a store that keeps no records cannot tell, and one that is away is told', async () => {
  expect(await gatewaysWithOtherNumbers(undefined, 'pro', QUOTA)).toEqual([]);
  const away = { kind: 'unavailable', cause: 'connect' } as const;
  expect(await gatewaysWithOtherNumbers({ recent: async () => away, leave: async () => away }, 'pro', QUOTA)).toBe(away);
});

test('numbers have the names of the configuration, and none where the other billing has no such number', () => {
  expect(numberChanges(QUOTA, QUOTA)).toEqual([]);
  expect(numberChanges(QUOTA, CREDIT)).toEqual([
    { number: 'billing', from: 'quota', to: 'credit' },
    { number: 'credit_minor_per_million', from: null, to: 2500 },
    { number: 'characters', from: 1_000_000, to: null },
    { number: 'period', from: 'P1M', to: null },
    { number: 'overage_cap_minor', from: 0, to: null },
    { number: 'overage_minor_per_million', from: 0, to: null },
  ]);
});
