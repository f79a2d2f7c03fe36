// Which operations wait for a replica of the store, for which teams, and how the result is reported to programs and to people.
import { beforeEach, describe, expect, test } from 'vitest';
import { AdminOperations } from '../../../src/admin/admin-operations.ts';
import { replicatedWarning, resultMembers } from '../../../src/admin/admin-result.ts';
import type { AnyResult } from '../../../src/admin/admin-result.ts';
import { revokeKey } from '../../../src/admin/operations/keys.ts';
import { saying } from '../../../src/cli/with-store.ts';
import { changedAnswer } from '../../../src/console/console-route.ts';
import { html } from '../../../src/docs/html.ts';
import { limitsOf } from '../../../src/domain/plan.ts';
import type { Plan } from '../../../src/domain/plan.ts';
import type { KeyRecord, Team, TeamRegistry } from '../../../src/ports/team-registry.ts';
import { AWAY_AUDIT, AWAY_TEAMS } from '../../support/away-store.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';

const TEAM: Team = { teamId: 'T1', name: 'Acme', plan: 'prepaid', limits: limitsOf(CREDIT_PLAN), balanceMicro: 5_000_000, createdAtMs: 0 };
const KEY = { keyId: 'K1', teamId: 'T1', status: 'revoked' } as KeyRecord;
const PLANS = new Map<string, Plan>([
  ['prepaid', CREDIT_PLAN],
  ['pro', QUOTA_PLAN],
]);

let asked: (readonly string[])[];
let confirmed: boolean | undefined;
let admin: AdminOperations;

beforeEach(() => {
  asked = [];
  confirmed = false;
  const teams: TeamRegistry = {
    ...AWAY_TEAMS,
    createTeam: (team) => Promise.resolve({ ...TEAM, ...team }),
    findTeam: () => Promise.resolve(TEAM),
    updateTeam: () => Promise.resolve(TEAM),
    revokeKey: () => Promise.resolve(KEY),
    listTeams: () => Promise.resolve([{ ...TEAM, limits: { ...TEAM.limits, requestsPerSecond: 1 } }]),
    pageTeams: () => Promise.resolve([{ ...TEAM, limits: { ...TEAM.limits, requestsPerSecond: 1 } }]),
    replicated(teamIds) {
      asked.push(teamIds);
      return Promise.resolve(confirmed);
    },
  };
  admin = new AdminOperations({ teams, plans: () => PLANS, newId: () => 'T1', audit: AWAY_AUDIT, actor: 'cli:test@host' });
});

const OPERATIONS: readonly (readonly [string, boolean, () => Promise<AnyResult>])[] = [
  ['revoking a key', true, () => revokeKey.run!(admin.context, { id: 'K1' })],
  ['adding credit', true, () => admin.updateTeam('T1', { addCreditMinor: 5 })],
  ['another plan', true, () => admin.updateTeam('T1', { plan: 'prepaid' })],
  ['another name', false, () => admin.updateTeam('T1', { name: 'Other' })],
  ['a team with credit', true, () => admin.createTeam({ name: 'New', plan: 'prepaid', creditMinor: 5 })],
  ['a team without', false, () => admin.createTeam({ name: 'New', plan: 'pro', creditMinor: undefined })],
  ['applying a plan', true, () => admin.plans.apply('prepaid')],
];

describe.each(OPERATIONS)('%s', (_what, waits, operation) => {
  test(`waits for a replica: ${waits}`, async () => {
    const result = await operation();
    expect([result.kind, asked]).toEqual(['done', waits ? [['T1']] : []]);
    expect(resultMembers(result)).toEqual(waits ? { replicated: false } : {});
  });
});

test.each([
  [true, { replicated: true }, false],
  [false, { replicated: false }, true],
  [undefined, {}, false],
] as const)('a change whose replication is %s', async (answer, member, warns) => {
  confirmed = answer;
  const result = await revokeKey.run!(admin.context, { id: 'K1' });
  expect(resultMembers(result)).toEqual(member);
  expect(saying('Done.', result)).toBe(warns ? `Done.\n\n${replicatedWarning(result)}` : 'Done.');
  const shown = changedAnswer('/teams', html`<p>Done.</p>`, result);
  expect(shown.kind === 'see' && shown.notice?.text.includes('class="warning"')).toBe(warns);
  if (warns) expect(replicatedWarning(result)).toContain('a failover may undo it');
});
