// The body of GET /v1/usage: its members, their order, and money that is never shown as more than it is.
import { describe, expect, test } from 'vitest';
import type { Plan } from '../../../src/domain/plan.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import { usageReport } from '../../../src/domain/usage-report.ts';
import type { UsageFigures } from '../../../src/domain/usage-report.ts';
import { CREDIT_SAMPLE as credit, QUOTA_SAMPLE as quota } from '../../support/sample-plans.ts';

function figures(plan: Plan, characters: number, balanceMicro = 0): UsageFigures {
  return {
    team: { teamId: '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', plan: 'p', limits: limitsOf(plan), balanceMicro },
    periodStartMs: Date.UTC(2026, 10, 1),
    periodEndMs: Date.UTC(2026, 11, 1),
    characters,
    allowanceUsed: 0,
    keys: [
      { display: 'la_live_Ab3d', label: 'backend', mode: 'live', characters, requests: 2, lastUsedAtMs: Date.UTC(2026, 10, 2) },
      { display: 'la_test_Zz9y', label: '', mode: 'test', characters: 0, requests: 0, lastUsedAtMs: undefined },
    ],
  };
}

function overageOf(characters: number, plan: Plan = quota) {
  const report = usageReport(figures(plan, characters));
  return report.billing === 'quota' ? report.overage : undefined;
}

describe('the usage report', () => {
  test('for a quota team has exactly these members', () => {
    expect(JSON.stringify(usageReport(figures(quota, 900)))).toBe(
      '{"team_id":"01JD3Q7V6Y8Z0XKQ4T5N2M9HRC","plan":"p","billing":"quota","requests_per_second":50,' +
        '"period_start":"2026-11-01T00:00:00Z","period_end":"2026-12-01T00:00:00Z","character_count":900,"test_character_count":0,"character_limit":1000,' +
        '"overage":{"character_count":0,"cost_minor":0,"cap_minor":10,"currency":"EUR"},"keys":[' +
        '{"display":"la_live_Ab3d","label":"backend","mode":"live","character_count":900,"request_count":2,"last_used_at":"2026-11-02T00:00:00Z"},' +
        '{"display":"la_test_Zz9y","label":"","mode":"test","character_count":0,"request_count":0,"last_used_at":null}]}',
    );
  });

  test('tells apart what test keys used, unless it is unknown which keys were used', () => {
    const usage = figures(quota, 900);
    const keys = usage.keys.map((key) => (key.mode === 'test' ? { ...key, characters: 70 } : key));
    expect(usageReport({ ...usage, characters: 970, keys })).toMatchObject({ character_count: 970, test_character_count: 70 });
    expect(usageReport({ ...usage, keys: [] })).not.toHaveProperty('test_character_count');
    expect(usageReport({ ...usage, characters: 0, keys: [] })).toMatchObject({ test_character_count: 0 });
  });

  test('what test keys use for nothing is no overage, and has members of its own', () => {
    const usage = figures({ ...quota, test_keys: { characters: 400 } }, 1501);
    expect(usageReport({ ...usage, allowanceUsed: 300 })).toMatchObject({
      character_count: 1501,
      test_keys: { character_count: 300, character_limit: 400 },
      overage: { character_count: 201 },
    });
    expect(usageReport({ ...figures(quota, 1), allowanceUsed: 1 })).toMatchObject({
      test_keys: { character_count: 1, character_limit: 0 },
    });
    expect(usageReport(figures(quota, 1))).not.toHaveProperty('test_keys');
  });

  test('for a credit team has the balance instead of limit and overage', () => {
    const report = usageReport(figures(credit, 900, 899_999_999));
    expect(Object.keys(report)).toEqual([
      'team_id',
      'plan',
      'billing',
      'requests_per_second',
      'period_start',
      'period_end',
      'character_count',
      'test_character_count',
      'credit',
      'keys',
    ]);
    expect(report).toMatchObject({ billing: 'credit', character_count: 900, credit: { balance_minor: 899, currency: 'EUR' } });
  });

  test.each([
    [1000, 0, 0],
    [1001, 1, 0],
    [1499, 499, 0],
    [1500, 500, 1],
    [6000, 5000, 10],
  ])('%i characters used are %i beyond the limit and cost %i', (used, beyond, cost) => {
    expect(overageOf(used)).toEqual({ character_count: beyond, cost_minor: cost, cap_minor: 10, currency: 'EUR' });
  });

  test('after a plan change within a period the cost shown never exceeds the cap', () => {
    expect(overageOf(1_000_000_000)).toMatchObject({ cost_minor: 10, cap_minor: 10 });
    expect(overageOf(5000, { ...quota, overage_cap_minor: 0, overage_minor_per_million: 0 })).toMatchObject({
      character_count: 4000,
      cost_minor: 0,
      cap_minor: 0,
    });
  });
});
