// Two gateways on one store: a change that is sent to both with one Idempotency-Key is made once, and its secret shown once.
import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminClient } from '../../support/admin-client.ts';
import type { AdminCall, AdminClient, Json } from '../../support/admin-client.ts';
import { expectProblem } from '../../support/every-gateway.ts';
import { CREDIT_PLAN } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';
import { answered } from '../../../src/index.ts';

const [TOKEN, SALES] = ['a token of at least thirty-two characters', 'another one of at least thirty-two of them'].map((text) =>
  text.replaceAll(' ', '-'),
) as [string, string];
const CONFIG = {
  admin: { tokens: ['ops', 'sales'].map((name, i) => ({ name, token: [TOKEN, SALES][i], role: 'manage' })) },
  plans: { prepaid: CREDIT_PLAN },
};

/** Everything that is stored, as text. */
async function dump(url: string): Promise<string> {
  const redis = new Redis(url);
  const texts = await Promise.all((await redis.keys('*')).map(async (key) => `${key} ${(await redis.dumpBuffer(key)).toString('latin1')}`));
  redis.disconnect();
  return texts.join('\n');
}

describe('over Redis', () => {
  const started = startedUntil(afterAll);
  let url = '';
  const gateways: TestGateway[] = [];
  const start = async (): Promise<TestGateway> => {
    const gateway = await started.gateway({ listener: 'node', store: url, engineUrls: ['http://127.0.0.1:1'], config: CONFIG });
    gateways.push(gateway);
    return gateway;
  };
  const client = (gateway: TestGateway): AdminClient => adminClient({ gateway }, TOKEN);
  beforeAll(async () => {
    ({ url } = await started.place('redis'));
    await Promise.all([start(), start()]);
  });

  const once = (body: object): AdminCall => ({ headers: { 'idempotency-key': `order-${randomBytes(6).toString('hex')}` }, body });
  /** Twenty at a time to both, and one more to a gateway that is started later. */
  async function everywhere(method: string, path: string, options: AdminCall): Promise<HttpResponse[]> {
    const clients = gateways.slice(0, 2).map(client);
    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => clients[i % 2]!.call(method, path, options)));
    return [...answers, await client(gateways[2] ?? (await start())).call(method, path, options)];
  }
  const here = (): AdminClient => client(gateways[0]!);
  const makeTeam = async (): Promise<string> => {
    const answer = await here().call('POST', '/teams', { body: { name: 'Acme', plan: 'prepaid', credit_minor: 1000 } });
    return String((JSON.parse(answer.body) as Json)['team_id']);
  };
  const isReplayed = (answer: HttpResponse): boolean => answer.header('lingate-replayed') === 'true';

  test('credit is added once', async () => {
    const teamId = await makeTeam();
    const options = once({ add_credit_minor: 500 });
    for (const { status, body } of await everywhere('PATCH', `/teams/${teamId}`, options)) {
      expect([status, JSON.parse(body)]).toMatchObject([200, { balance_minor: 1500 }]);
    }
    const other = await client(gateways[1]!).call('PATCH', `/teams/${teamId}`, { ...options, body: { add_credit_minor: 501 } });
    expect([other.status, other.body]).toEqual([400, expect.stringContaining('Idempotency-Key')]);
    expect(answered(await gateways[1]!.store.teams.findTeam(teamId))?.balanceMicro).toBe(1500 * 1_000_000);
  });

  test('a key is created once; only the first answer has it, and the store never does', async () => {
    const teamId = await makeTeam();
    const answers = await everywhere('POST', `/teams/${teamId}/keys`, once({ mode: 'live', label: 'shop' }));
    const [first, ...others] = answers.toSorted((one, other) => Number(isReplayed(one)) - Number(isReplayed(other)));
    const { key, ...shown } = JSON.parse(first!.body) as Json;
    expect([first!.status, isReplayed(first!), key]).toEqual([201, false, expect.stringMatching(/^la_live_/)]);
    for (const other of others) expect([other.status, isReplayed(other), JSON.parse(other.body)]).toEqual([201, true, shown]);
    expect((JSON.parse((await here().call('GET', `/teams/${teamId}/keys`)).body) as Json)['keys']).toHaveLength(1);
    expect(await dump(url)).not.toContain(String(key).slice(12));
  });

  test('each operator has Idempotency-Keys of their own: nobody gets what another one created', async () => {
    const teamId = await makeTeam();
    const options = once({ mode: 'live' });
    const mine = await here().call('POST', `/teams/${teamId}/keys`, options);
    const theirs = await client(gateways[1]!).call('POST', `/teams/${teamId}/keys`, { ...options, token: SALES });
    const keys = [mine, theirs].map(({ body }) => JSON.parse(body) as Json);
    expect([theirs.status, isReplayed(theirs)]).toEqual([201, false]);
    expect(keys[0]!['key_id']).not.toBe(keys[1]!['key_id']);
    expect(keys[0]!['key']).not.toBe(keys[1]!['key']);
    const name = `Theirs-${randomBytes(4).toString('hex')}`;
    const refused = await here().call('POST', '/teams', { ...options, body: { name, plan: 'prepaid' } });
    expectProblem(refused, 'validation_error');
  });
});
