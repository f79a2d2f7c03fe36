// Audit entries as the admin API names their members: only what changed, money in minor units, with the reason.
import { expect, test } from 'vitest';
import { auditEntryReport } from '../../../src/admin/audit-report.ts';
import type { AuditEntry } from '../../../src/domain/audit-entry.ts';
import { GENEROUS_QUOTA, PREPAID } from '../../../src/testing/store/team-under-test.ts';

const BASE = { id: '0'.repeat(31), atMs: Date.UTC(2026, 10, 22), actor: 'cli:ada@host', teamId: 'T', keyId: undefined } as const;

function members(entry: Pick<AuditEntry, 'before' | 'after'> & Partial<AuditEntry>) {
  const { before, after } = auditEntryReport({ ...BASE, action: 'updateTeam', ...entry });
  return { before, after };
}

test('an entry has the actor, the time, the team and the key', () => {
  const report = auditEntryReport({ ...BASE, action: 'revokeKey', keyId: 'K', before: { status: 'active' }, after: { status: 'revoked' } });
  expect(report).toEqual({
    at: '2026-11-22T00:00:00Z',
    actor: 'cli:ada@host',
    action: 'revokeKey',
    team_id: 'T',
    key_id: 'K',
    before: { status: 'active' },
    after: { status: 'revoked' },
  });
  const withoutTeam = auditEntryReport({ ...BASE, action: 'applyPlan', teamId: undefined, before: {}, after: {} });
  expect([withoutTeam.team_id, withoutTeam.key_id]).toEqual([null, null]);
});

test('a balance is in whole minor units, and the reason is beside the new one', () => {
  expect(members({ before: { balanceMicro: 2_999_999 }, after: { balanceMicro: 1_999_999 }, reason: 'twice' })).toEqual({
    before: { balance_minor: 2 },
    after: { balance_minor: 1, reason: 'twice' },
  });
});

test('a glossary has its id and name', () => {
  expect(members({ action: 'deleteGlossary', before: { glossaryId: 'G', name: 'Terms' }, after: {} })).toEqual({
    before: { glossary_id: 'G', name: 'Terms' },
    after: {},
  });
});

test('of a plan’s numbers only those that differ are there, also those that the other billing lacks', () => {
  expect(members({ before: { limits: PREPAID }, after: { limits: { ...PREPAID, requestsPerSecond: 7 } } })).toEqual({
    before: { requests_per_second: 1000 },
    after: { requests_per_second: 7 },
  });
  expect(members({ before: { plan: 'a', limits: GENEROUS_QUOTA }, after: { plan: 'b', limits: PREPAID } })).toEqual({
    before: { plan: 'a', billing: 'quota', characters: 1_000_000, period: 'P1M', overage_cap_minor: 0, overage_minor_per_million: 0 },
    after: { plan: 'b', billing: 'credit', credit_minor_per_million: 2500 },
  });
});

test('a new team has all of them', () => {
  const { after } = members({ before: {}, after: { name: 'Acme', plan: 'prepaid', limits: PREPAID, balanceMicro: 7_000_000 } });
  expect(after).toEqual({
    name: 'Acme',
    plan: 'prepaid',
    billing: 'credit',
    requests_per_second: 1000,
    max_characters_per_request: 10_000,
    max_glossaries: 1,
    period_anchor: 'creation',
    credit_minor_per_million: 2500,
    currency: 'EUR',
    balance_minor: 7,
  });
});
