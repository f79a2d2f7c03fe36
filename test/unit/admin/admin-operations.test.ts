// Operations on an unreachable store: each returns that as a value, which becomes a problem in the admin API and one line on the command line.
import { expect, test } from 'vitest';
import { refusalOf } from '../../../src/admin/admin-refusals.ts';
import type { AdminResult } from '../../../src/admin/admin-result.ts';
import { AdminOperations } from '../../../src/admin/admin-operations.ts';
import { listAudit } from '../../../src/admin/operations/audit.ts';
import { createKey, findKeys, listKeys, revokeKey } from '../../../src/admin/operations/keys.ts';
import { valueOf } from '../../../src/cli/with-store.ts';
import { DEFAULT_PLANS } from '../../../src/config/schema.ts';
import { AWAY, AWAY_AUDIT, AWAY_TEAMS } from '../../support/away-store.ts';

const PLANS = new Map(Object.entries(DEFAULT_PLANS));
const admin = new AdminOperations({ teams: AWAY_TEAMS, plans: () => PLANS, newId: () => 'ID', audit: AWAY_AUDIT, actor: 'cli:test@host' });

test.each([
  ['createTeam', () => admin.createTeam({ name: 'Acme', plan: 'free', creditMinor: undefined })],
  ['listTeams', () => admin.listTeams({ after: undefined, limit: 1, search: undefined })],
  ['listSummaries', () => admin.listSummaries({ after: undefined, limit: 1, search: undefined })],
  ['showTeam', () => admin.showTeam('T')],
  ['updateTeam', () => admin.updateTeam('T', { name: 'Other' })],
  ['usage', () => admin.usage('T')],
  ['listKeys', () => listKeys.run!(admin.context, { id: 'T' })],
  ['createKey', () => createKey.run!(admin.context, { id: 'T', mode: 'live' })],
  ['revokeKey', () => revokeKey.run!(admin.context, { id: 'K' })],
  ['findKeys', () => findKeys.run!(admin.context, { key: 'K' })],
  ['applyPlan', () => admin.plans.apply('free')],
  ['listAudit', () => listAudit.listing!.page(admin.context, {}, undefined, 1) as Promise<unknown>],
])('%s reports that the store is unreachable', async (_name, operate) => {
  const result = await operate();
  expect(result).toEqual(AWAY);
  expect(refusalOf(AWAY)).toMatchObject({ problem: { code: 'service_unavailable' } });
  expect(() => valueOf<unknown>(result as AdminResult<unknown>)).toThrow(
    expect.objectContaining({ name: 'StoreError', message: AWAY.advice }) as Error,
  );
});
