// Operators by their tokens: to whom a token belongs, and what a changed configuration does to sessions that were started with one.
import { expect, test } from 'vitest';
import { actorOf, Operators } from '../../../src/admin/operators.ts';
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

test('the actor in the audit is the front, the operator’s name and the address', () => {
  expect(actorOf('admin', OPS, '::ffff:10.0.0.7')).toBe('admin:ops@10.0.0.7');
  expect(actorOf('console', SALES, '::1')).toBe('console:sales@::1');
});
