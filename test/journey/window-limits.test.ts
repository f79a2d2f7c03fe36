// Limits by minute to month over real sockets: what a refusal says, on every front alike, and what is shown of them.
import { afterAll, expect, test } from 'vitest';
import { answered } from '../../src/index.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../support/event-receiver.ts';
import { ask, expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { startUpstream } from '../support/upstream.ts';

const upstream = await startUpstream();
const receiver = await startScriptedReceiver();
afterAll(async () => {
  await upstream.close();
  await receiver.close();
});

const config = {
  limits: { rate_limit_headers: true },
  events: { url: receiver.url, secret: EVENTS_SECRET },
  forward: [{ path: '/v1/documents/*', methods: ['GET'], target: upstream.url, charge_characters: 30 }],
};
/** A month does not end while a test runs, or not twice. */
const LIMITS = [{ per: 'month', requests: 4, characters: 50 }] as const;

onOneGateway({ config }, (setting) => {
  const translate = (key: string, text: string) => translateText(setting, key, text);

  test('over a limit: 429 with limit_of and Retry-After until the window ends, on routes and forward routes alike', async () => {
    const { key } = await setting.gateway.team({ ...QUOTA_PLAN, limits: LIMITS });
    expect((await ask(setting, { path: '/v1/documents/one', key })).status).toBe(200);
    const refused = await translate(key, 'x'.repeat(21));
    expectProblem(refused, 'rate_limited', { limit: 50, limit_of: 'team:month:characters' });
    const waitS = Number(refused.header('retry-after'));
    expect(waitS).toBeGreaterThan(0);
    expect(waitS).toBeLessThanOrEqual(31 * 86_400);
    expect(refused.header('x-ratelimit-limit')).toBe('50');
    expect(refused.header('ratelimit-policy')).toBe('"team-month-characters";q=50;qu="characters";w=2678400');
    expect(refused.header('ratelimit')).toBe(`"team-month-characters";r=0;t=${waitS}`);
    expectProblem(await ask(setting, { path: '/v1/documents/two', key }), 'rate_limited', { limit: 50, limit_of: 'team:month:characters' });
    const good = await translate(key, 'x'.repeat(20));
    expect(good.status).toBe(200);
    expect(good.header('ratelimit')).toMatch(/^"requests";r=\d+;t=1, "team-month-requests";r=2;t=\d+, "team-month-characters";r=0;t=\d+$/);
    const usage = await ask(setting, { path: '/v1/usage', key });
    const { limits } = JSON.parse(usage.body) as { limits: unknown };
    expect(limits).toMatchObject([{ per: 'month', requests: 4, used_requests: 3, characters: 50, used_characters: 50 }]);
    expect((await ask(setting, { path: '/v1/languages', key })).status).toBe(200);
    for (let i = 0; i < 3; i++)
      expectProblem(await ask(setting, { path: '/v1/languages', key }), 'rate_limited', { limit: 4, limit_of: 'team:month:requests' });
  });

  test('a text that never fits is a 402; a raised limit holds at the next request', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN });
    answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits: { windows: 'characters=40/month' } }));
    const tooLong = await translate(team.key, 'x'.repeat(41));
    expect(tooLong.status).toBe(402);
    expect(JSON.parse(tooLong.body)).toMatchObject({
      code: 'quota_exceeded',
      character_limit: 40,
      limit_of: 'key:month:characters',
    });
    expect((await translate(team.key, 'x'.repeat(40))).status).toBe(200);
    expectProblem(await translate(team.key, 'x'), 'rate_limited', { limit: 40, limit_of: 'key:month:characters' });
    answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits: { windows: 'characters=41/month' } }));
    expect((await translate(team.key, 'x')).status).toBe(200);
  });

  test('lingate.limit.reached names the window, once for each, and the key if it is one of its own', async () => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, limits: [{ per: 'month', requests: 3 }] });
    answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits: { windows: 'characters=5/month' } }));
    expect((await translate(team.key, 'x'.repeat(5))).status).toBe(200);
    for (let i = 0; i < 2; i++) expect((await translate(team.key, 'x')).status).toBe(429);
    for (let i = 0; i < 2; i++) expect((await ask(setting, { path: '/v1/languages', key: team.key })).status).toBe(200);
    for (let i = 0; i < 2; i++) expect((await ask(setting, { path: '/v1/languages', key: team.key })).status).toBe(429);
    const reported = () =>
      receiver.received.filter(({ subject, type }) => subject === team.teamId && type === 'lingate.limit.reached').map(({ data }) => data);
    await expect.poll(() => reported().length).toBe(2);
    expect(reported().toSorted((one, other) => String(one['limit_of']).localeCompare(String(other['limit_of'])))).toMatchObject([
      { code: 'rate_limited', window: 'month', limit_of: 'key:month:characters', key_id: team.keyId, required_characters: 1 },
      { code: 'rate_limited', window: 'month', limit_of: 'team:month:requests', limits: [{ per: 'month', requests: 3, used_requests: 3 }] },
    ]);
    expect(reported().find(({ limit_of: name }) => name === 'team:month:requests')).not.toHaveProperty('key_id');
  });
});
