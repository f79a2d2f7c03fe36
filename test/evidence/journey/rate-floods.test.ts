// A flood is refused where it comes in: while the store is known to refuse a key, the gateway gives the same answer without asking it.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import { adminClient } from '../../support/admin-client.ts';
import { onEveryGateway } from '../../support/every-gateway.ts';
import { FACADES, FRONTS, V1 } from '../../support/fronts.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import type { HttpResponse } from '../../support/raw-http.ts';

const TOKEN = randomBytes(24).toString('hex');
const ONE_A_SECOND = { ...QUOTA_PLAN, requests_per_second: 1 };
/** A window is full for a second; on a busy machine that may be over before it is tried. */
const TRIES = 30;

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

const config = {
  admin: { token: TOKEN },
  plans: { pro: QUOTA_PLAN },
  plugins: FACADES,
  limits: { rate_limit_headers: true },
  listen_trusted_proxies: ['127.0.0.1'],
};

onEveryGateway({ config }, (setting) => {
  const admin = adminClient(setting, TOKEN);
  const send = (sent: Sent): Promise<HttpResponse> => request({ port: setting.gateway.port, ...sent });
  const usage = (key: string, headers: Sent['headers'] = {}): Sent => ({
    method: 'GET',
    path: '/v1/usage',
    headers: { authorization: `Bearer ${key}`, ...headers },
  });

  /** How many requests have used the store. */
  async function storeUses(): Promise<number> {
    const { body } = await request({ port: setting.gateway.opsPort, path: '/metrics', headers: { host: '127.0.0.1' } });
    const [, count] = /^lingate_store_duration_seconds_count (\d+)$/m.exec(body) ?? [];
    if (count === undefined) throw new Error(`no count of uses of the store: ${body.slice(0, 200)}`);
    return Number(count);
  }

  /** The answer, and whether the store was asked for it. */
  async function watched(sent: Sent): Promise<{ readonly response: HttpResponse; readonly asked: boolean }> {
    const before = await storeUses();
    const response = await send(sent);
    return { response, asked: (await storeUses()) > before };
  }

  /** A team whose next request is refused without the store. */
  async function flooding(
    sent: (team: TestTeam) => Sent,
    { limits = {}, first = sent }: { readonly limits?: KeyLimits; readonly first?: (team: TestTeam) => Sent } = {},
  ): Promise<{ readonly team: TestTeam; readonly answer: HttpResponse; readonly repeated: HttpResponse }> {
    for (let tries = 0; tries < TRIES; tries++) {
      const team = await setting.gateway.team(ONE_A_SECOND);
      if (Object.keys(limits).length > 0) answered(await setting.gateway.store.teams.updateKey(team.keyId, { limits }));
      expect((await send(first(team))).status).toBe(200);
      const answer = await send(sent(team));
      const { response, asked } = await watched(sent(team));
      if (answer.status === 429 && response.status === 429 && !asked) return { team, answer, repeated: response };
    }
    throw new Error('no request was refused without the store');
  }

  describe.each(FRONTS)('over $name', (front) => {
    test('the answer is the one that the store gave', async () => {
      const { answer, repeated } = await flooding(({ key }) => front.translation(key, ['Hello']));
      const withoutId = ({ body }: HttpResponse): string => body.replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, 'ID');
      expect(withoutId(repeated)).toBe(withoutId(answer));
      for (const name of ['content-type', 'retry-after', 'x-ratelimit-limit', 'ratelimit', 'ratelimit-policy', 'connection']) {
        expect([name, repeated.header(name)]).toEqual([name, answer.header(name)]);
      }
    });
  });

  test('it is logged and counted like any other, and a connection whose body was not waited for stays open', async () => {
    const { team } = await flooding(({ key }) => usage(key));
    const connection = await RawConnection.open({ port: setting.gateway.port });
    const answers = [];
    for (let i = 0; i < 3; i++) {
      connection.send(requestBytes(V1.translation(team.key, ['Hello'])));
      answers.push(await connection.response());
    }
    connection.destroy();
    expect(answers.map(({ status }) => [200, 429].includes(status))).toEqual([true, true, true]);
    const lines = () =>
      setting.gateway.logLines
        .map((line) => JSON.parse(line) as Record<string, unknown>)
        .filter((line) => line['code'] === 'rate_limited' && line['key_id'] === team.keyId && line['route'] === 'POST /v1/translate');
    const refused = answers.filter(({ status }) => status === 429).length;
    await expect.poll(() => lines().length).toBe(refused);
    for (const line of lines()) {
      expect(line).toMatchObject({ status: 429, limit_of: 'team', team_id: team.teamId, engine_attempts: 0 });
    }
  });

  test('path and method, the key itself, and other keys are judged as ever', async () => {
    const { team } = await flooding(({ key }) => usage(key));
    const other = await setting.gateway.team();
    expect((await send({ ...usage(team.key), path: '/v1/none' })).status).toBe(404);
    expect((await send({ ...usage(team.key), method: 'DELETE' })).status).toBe(405);
    expect((await send(usage(`${team.key}x`))).status).toBe(401);
    expect((await send(usage(other.key))).status).toBe(200);
  });

  test('a long body is not read for it either', async () => {
    const { repeated } = await flooding(({ key }) => V1.translation(key, ['x'.repeat(40_000)]), { first: ({ key }) => usage(key) });
    expect(repeated.status).toBe(429);
  });

  test('an address that the key does not allow is told so', async () => {
    const from = (address: string) => ({ 'x-forwarded-for': address });
    const { team } = await flooding(({ key }) => usage(key, from('10.1.2.3')), { limits: { allowedAddresses: ['10.0.0.0/8'] } });
    expect((await send(usage(team.key, from('192.0.2.1')))).status).toBe(401);
    expect([200, 429]).toContain((await send(usage(team.key, from('10.1.2.4')))).status);
  });

  test.each([
    ['the plan is raised', (team: TestTeam) => ['PATCH', `/teams/${team.teamId}`, { plan: 'pro' }] as const, 200],
    ['the key is revoked', (team: TestTeam) => ['POST', `/keys/${team.keyId}/revoke`, undefined] as const, 401],
    ['the key is disabled', (team: TestTeam) => ['PATCH', `/keys/${team.keyId}`, { disabled: true }] as const, 401],
    ['the team is deleted', (team: TestTeam) => ['DELETE', `/teams/${team.teamId}`, undefined] as const, 401],
  ])('if %s by this gateway, the next request is told', async (_what, change, status) => {
    const { team } = await flooding(({ key }) => usage(key));
    const [method, path, body] = change(team);
    const done = await admin.call(method, path, body === undefined ? {} : { body });
    expect(done.status).toBeLessThan(300);
    expect((await send(usage(team.key))).status).toBe(status);
  });

  test('a key that is revoked elsewhere is told so after a second at most', async () => {
    const { team } = await flooding(({ key }) => usage(key));
    answered(await setting.gateway.store.teams.revokeKey(team.keyId));
    const revokedAtMs = performance.now();
    for (;;) {
      const startedAtMs = performance.now();
      const { status } = await send(usage(team.key));
      if (status === 401) break;
      expect(status).toBe(429);
      expect(startedAtMs - revokedAtMs).toBeLessThan(1000);
    }
  });
});
