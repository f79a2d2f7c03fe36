// Operators by their tokens: to whom a token belongs, and what a changed configuration does to sessions that were started with one.
import { describe, expect, test } from 'vitest';
import { Operators } from '../../../src/admin/operators.ts';
import type { OperatorToken } from '../../../src/domain/operator.ts';
import { html } from '../../../src/docs/html.ts';
import { Sessions } from '../../../src/console/sessions.ts';

const OPS: OperatorToken = { name: 'ops', role: 'manage', token: 'o'.repeat(32) };
const SALES: OperatorToken = { name: 'sales', role: 'read', token: 's'.repeat(32) };

test('only a whole token finds its operator, and does not show in what is found', () => {
  const operators = new Operators([OPS, SALES]);
  expect(operators.byToken(OPS.token)).toMatchObject({ name: 'ops', role: 'manage' });
  expect(operators.byToken(SALES.token)).toMatchObject({ name: 'sales', role: 'read' });
  for (const none of ['', 'o'.repeat(31), 'o'.repeat(33), `${OPS.token}${SALES.token}`]) expect(operators.byToken(none)).toBeUndefined();
  expect(JSON.stringify(operators.byToken(OPS.token))).not.toContain(OPS.token);
});

test('a session ends with its token for good, even if the token is added again, and follows its operator’s name and role', () => {
  const operators = new Operators([OPS, SALES]);
  const sessions = new Sessions(operators, () => 0);
  const [ops, sales] = [sessions.start(operators.byToken(OPS.token)!), sessions.start(operators.byToken(SALES.token)!)];
  const notice = sessions.find(sales)!.leave(html`<p>kept</p>`);
  operators.replace([{ ...SALES, name: 'shop', role: 'manage' }]);
  expect(sessions.find(ops)).toBeUndefined();
  expect(sessions.find(sales)?.operator).toMatchObject({ name: 'shop', role: 'manage' });
  expect(sessions.find(sales)?.take(notice)).toBeDefined();
  operators.replace([OPS, { ...SALES, token: 'n'.repeat(32) }]);
  expect(sessions.find(sales)).toBeUndefined();
  expect(sessions.find(ops)).toBeUndefined();
});

describe('a person', () => {
  const ADA = {
    issuer: 'https://id.example.com',
    subject: '7',
    name: 'ada@example.com',
    groups: ['staff', 'sales'],
    signOutUrl: 'a secret',
  };
  const GROUPS = { issuer: ADA.issuer, roles: { manage: ['admins'], read: ['sales'] } };

  test('has the greater role of their groups, at this provider only', () => {
    const operators = new Operators([OPS], GROUPS);
    expect(operators.byPerson(ADA)).toMatchObject({ name: 'ada@example.com', role: 'read' });
    expect(operators.byPerson({ ...ADA, groups: ['sales', 'admins'] })).toMatchObject({ role: 'manage' });
    for (const none of [
      { ...ADA, groups: ['Sales'] },
      { ...ADA, groups: [] },
      { ...ADA, issuer: 'https://other.example.com' },
    ])
      expect(operators.byPerson(none)).toBeUndefined();
    expect(new Operators([OPS]).byPerson(ADA)).toBeUndefined();
  });

  test('is not mistaken for the operator of a token', () => {
    expect(new Operators([OPS], GROUPS).byPerson({ ...ADA, name: 'OPS' })).toMatchObject({ name: 'oidc:OPS' });
  });

  test('has a session that ends with the hour, or with the role of their groups', () => {
    const operators = new Operators([OPS], GROUPS);
    let now = 0;
    const sessions = new Sessions(operators, () => now);
    const cookie = sessions.start(operators.byPerson(ADA)!);
    operators.replace([OPS], { ...GROUPS, roles: { manage: ['staff'], read: ['sales'] } });
    expect(sessions.find(cookie)?.operator.role).toBe('manage');
    now = 3_599_999;
    expect(sessions.find(cookie)).toBeDefined();
    now = 3_600_000;
    expect(sessions.find(cookie)).toBeUndefined();
    const other = sessions.start(operators.byPerson(ADA)!);
    operators.replace([OPS], { ...GROUPS, issuer: 'https://other.example.com' });
    expect(sessions.find(other)).toBeUndefined();
  });
});
