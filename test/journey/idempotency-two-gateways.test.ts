// Two gateways on one Redis: a PATCH that is sent to both with one Idempotency-Key adds its credit once.
import { expect, test } from 'vitest';
import { adminClient } from '../support/admin-client.ts';
import { CREDIT_PLAN, startGateway } from '../support/gateway.ts';
import { redisOfFile } from '../support/redis-of-file.ts';
import { answered } from '../../src/domain/store-unavailable.ts';

const TOKEN = 'a token of at least thirty-two characters'.replaceAll(' ', '-');
const { redisServer } = redisOfFile();

test('credit is added once by twenty concurrent requests, and by one more to a gateway that was started later', async () => {
  const { url } = await redisServer();
  const start = () =>
    startGateway({ listener: 'node', store: url, engineUrls: ['http://127.0.0.1:1'], config: { admin: { token: TOKEN } } });
  const gateways = [await start(), await start()];
  const clients = gateways.map((gateway) =>
    adminClient({ listener: 'node', store: 'redis', url, gateway, engine: undefined as never }, TOKEN),
  );
  const { teamId } = await gateways[0]!.team(CREDIT_PLAN, 1000);
  const options = { headers: { 'idempotency-key': 'order-4711' }, body: { add_credit_minor: 500 } };
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => clients[i % 2]!.call('PATCH', `/teams/${teamId}`, options)));
  for (const { status, body } of answers) expect([status, JSON.parse(body)]).toMatchObject([200, { balance_minor: 1500 }]);
  const later = await start();
  const client = adminClient({ listener: 'node', store: 'redis', url, gateway: later, engine: undefined as never }, TOKEN);
  expect(JSON.parse((await client.call('PATCH', `/teams/${teamId}`, options)).body)).toMatchObject({ balance_minor: 1500 });
  const other = await client.call('PATCH', `/teams/${teamId}`, { ...options, body: { add_credit_minor: 501 } });
  expect([other.status, other.body]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
  expect(answered(await later.store.teams.findTeam(teamId))?.balanceMicro).toBe(1500 * 1_000_000);
  for (const gateway of [...gateways, later]) await gateway.stop();
});
