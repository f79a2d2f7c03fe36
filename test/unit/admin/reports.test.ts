// What commands and the admin API report of a period, with the same members for each billing.
import { describe, expect, test } from 'vitest';
import { periodReport } from '../../../src/admin/reports.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { Plan } from '../../../src/domain/plan.ts';
import { overageOf } from '../../../src/domain/usage-report.ts';
import { CREDIT_SAMPLE as credit, QUOTA_SAMPLE as quota } from '../../support/sample-plans.ts';

describe('the report for a period', () => {
  const period = (plan: Plan, closed: boolean) =>
    periodReport({
      startMs: Date.UTC(2026, 9, 1),
      endMs: Date.UTC(2026, 10, 1),
      closed,
      plan: 'pro',
      limits: limitsOf(plan),
      characters: 1_001_000,
      allowanceUsed: 0,
      testCharacters: 9,
      requests: 7,
      credit: { openingMicro: 0, addedMicro: 0, deductedMicro: 0, balanceMicro: 0 },
    });

  test('with a quota plan has the same limit and overage as the usage report', () => {
    expect(JSON.stringify(period(quota, true))).toBe(
      '{"period_start":"2026-10-01T00:00:00Z","period_end":"2026-11-01T00:00:00Z","closed":true,"plan":"pro","billing":"quota",' +
        '"character_count":1001000,"test_character_count":9,"character_limit":1000,' +
        '"overage":{"character_count":1000000,"cost_minor":10,"cap_minor":10,"currency":"EUR"}}',
    );
    expect(period(quota, true).overage).toEqual(overageOf(1_001_000, limitsOf(quota)));
  });

  test('with a credit plan has neither', () => {
    expect(JSON.stringify(period(credit, false))).toBe(
      '{"period_start":"2026-10-01T00:00:00Z","period_end":"2026-11-01T00:00:00Z","closed":false,"plan":"pro","billing":"credit","character_count":1001000,"test_character_count":9}',
    );
  });
});
