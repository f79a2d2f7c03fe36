// The admin API under attack, in raw bytes: anything not clearly valid is refused, changes nothing, and is never repeated.
import { randomBytes } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { adminClient } from '../../support/admin-client.ts';
import { expectProblem, onOneGateway } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { chunked, RawConnection } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const TOKEN = randomBytes(24).toString('hex');
const CONFIG = { admin: { token: TOKEN }, ops_names: ['ops.internal'], plans: { pro: QUOTA_PLAN } };
const RIGHT = `Authorization: Bearer ${TOKEN}`;
const HOST = 'Host: 127.0.0.1';
const TEAM = '{"name":"Intruder","plan":"pro"}';
const TRIES = 10_000;

/** A request's bytes from its lines; `body` is sent as it is. */
const bytes = (lines: readonly string[], body: string | Uint8Array = ''): Buffer =>
  Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), Buffer.from(body)]);
const post = (fields: readonly string[], body = TEAM, path = '/admin/v1/teams'): Buffer =>
  bytes([`POST ${path} HTTP/1.1`, ...fields, `Content-Length: ${Buffer.byteLength(body)}`], body);
const JSON_TYPE = 'Content-Type: application/json';

/** What is sent, and every status that correctly refuses it; 0 is a connection that is closed without an answer. */
type Attack = readonly [what: string, sent: Buffer, ...statuses: number[]];

const CREDENTIALS: readonly Attack[] = [
  ['no token', post([HOST, JSON_TYPE]), 401, 429],
  ['an empty one', post([HOST, JSON_TYPE, 'Authorization: Bearer ']), 401, 429],
  ['the beginning of it', post([HOST, JSON_TYPE, RIGHT.slice(0, -1)]), 401, 429],
  ['it and one more character', post([HOST, JSON_TYPE, `${RIGHT}0`]), 401, 429],
  ['it in capitals', post([HOST, JSON_TYPE, `Authorization: Bearer ${TOKEN.toUpperCase()}x`]), 401, 429],
  ['it twice in a field', post([HOST, JSON_TYPE, `${RIGHT} ${TOKEN}`]), 401, 429],
  ['it after a comma', post([HOST, JSON_TYPE, `Authorization: Bearer x, Bearer ${TOKEN}`]), 401, 429],
  ['it after another field', post([HOST, JSON_TYPE, 'Authorization: Bearer x', RIGHT]), 401, 429],
  ['it as Basic', post([HOST, JSON_TYPE, `Authorization: Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`]), 401, 429],
  ['it without a scheme', post([HOST, JSON_TYPE, `Authorization: ${TOKEN}`]), 401, 429],
  ['it in a cookie', post([HOST, JSON_TYPE, `Cookie: lingate_console=${TOKEN}; token=${TOKEN}`]), 401, 429],
  ['it in the query', post([HOST, JSON_TYPE], TEAM, `/admin/v1/teams?token=${TOKEN}&access_token=${TOKEN}`), 401, 429],
  ['it in Proxy-Authorization', post([HOST, JSON_TYPE, `Proxy-Authorization: Bearer ${TOKEN}`]), 401, 429],
  ['a foreign page’s plain form', post([HOST, 'Origin: http://evil.example', 'Content-Type: text/plain']), 401, 429],
  ['a foreign page’s preflight', bytes(['OPTIONS /admin/v1/teams HTTP/1.1', HOST, 'Origin: http://evil.example']), 401, 429],
  ['a body that is too large', post([HOST, JSON_TYPE], `{"name":"${'a'.repeat(20_000)}"}`), 401, 429],
  ['an unknown path', bytes(['GET /admin/v1/nothing HTTP/1.1', HOST]), 401, 429],
];

const HOSTS: readonly Attack[] =
  `evil.example evil.example:9090 127.0.0.1.evil.example localhost.evil.example localhost. localhost@evil.example
  evil.example#localhost ops.internal.evil.example xops.internal 2130706433 0x7f.0.0.1 127.1 [::1 ::1]`
    .split(/\s+/)
    .concat('')
    .map((host): Attack => [`Host: ${host}`, post([`Host: ${host}`, JSON_TYPE, RIGHT]), 421, 400]);

const MORE_HOSTS: readonly Attack[] = [
  ['two Hosts, the first of them ours', post([HOST, 'Host: evil.example', JSON_TYPE, RIGHT]), 421, 400],
  ['two Hosts, the second of them ours', post(['Host: evil.example', HOST, JSON_TYPE, RIGHT]), 421, 400],
  ['no Host at all', post([JSON_TYPE, RIGHT]), 421, 400],
  ['ours in X-Forwarded-Host', post(['Host: evil.example', 'X-Forwarded-Host: localhost', JSON_TYPE, RIGHT]), 421],
  ['a foreign one in the request line', post([HOST, JSON_TYPE, RIGHT], TEAM, 'http://evil.example/admin/v1/teams'), 404],
];

const PATHS: readonly Attack[] = `/admin/v1 /admin/v1/ /admin/v1/teams/ /admin/v1//teams /admin//v1/teams //admin/v1/teams
  //evil.example/admin/v1/teams /./admin/v1/teams /admin/v1/./teams /admin/v1/keys/../teams /docs/../admin/v1/teams
  /admin/v1/%74eams /admin/v1%2fteams /admin/v1/teams%2f /admin/v1/teams%00 /admin/v1/teams;jsession=1
  /admin/v1/teams%3fq /ADMIN/v1/teams /admin/V1/teams /admin/v1/Teams /admin/v2/teams /admin/v1\\teams
  \\admin\\v1\\teams /admin/v1/teams/__proto__/keys /admin/v1/teams/..%2f..%2f/keys
  /admin/v1/keys/constructor/revoke /admin/v1/plans/__proto__/apply /admin/v1/plans/constructor/apply
  /admin/v1/plans/pro%20/apply`
  .split(/\s+/)
  .map((path): Attack => [`POST ${path}`, post([HOST, JSON_TYPE, RIGHT], TEAM, path), 404, 400]);

const framed = (fields: readonly string[], body: string | Uint8Array): Buffer =>
  bytes(['POST /admin/v1/teams HTTP/1.1', HOST, RIGHT, JSON_TYPE, ...fields], body);
const ENDLESS = chunked(...Array.from({ length: 40 }, () => ' '.repeat(1000)), TEAM);
const REQUESTS: readonly Attack[] = [
  ['another method', bytes(['DELETE /admin/v1/teams HTTP/1.1', HOST, RIGHT]), 405],
  ['a HEAD', bytes(['HEAD /admin/v1/teams HTTP/1.1', HOST, RIGHT]), 405],
  ['a TRACE', bytes(['TRACE /admin/v1/teams HTTP/1.1', HOST, RIGHT]), 405],
  ['a method in a field', bytes(['GET /admin/v1/keys/x/revoke HTTP/1.1', HOST, RIGHT, 'X-HTTP-Method-Override: POST']), 405],
  ['a CONNECT', bytes(['CONNECT 127.0.0.1:9090 HTTP/1.1', HOST, RIGHT]), 0, 400, 404, 405],
  ['a body with two lengths', framed(['Content-Length: 32', 'Content-Length: 31'], TEAM), 400],
  ['a body with a length and in chunks', framed(['Content-Length: 32', 'Transfer-Encoding: chunked'], chunked(TEAM)), 400],
  ['chunks without an end that can be taken', framed(['Transfer-Encoding: chunked'], ENDLESS), 400],
  ['no media type', post([HOST, RIGHT]), 400],
  ['a form', post([HOST, RIGHT, 'Content-Type: application/x-www-form-urlencoded'], 'name=Intruder&plan=pro'), 400],
  ['plain text', post([HOST, RIGHT, 'Content-Type: text/plain;application/json']), 400],
  ['bytes that are not UTF-8', framed(['Content-Length: 30'], Buffer.from('{"name":"Intr\xff","plan":"pro" }', 'latin1')), 400],
  ['a prototype', post([HOST, RIGHT, JSON_TYPE], '{"__proto__":{"plan":"pro"},"name":"Intruder"}'), 400],
  ['a prototype’s plan', post([HOST, RIGHT, JSON_TYPE], '{"name":"Intruder","plan":"__proto__"}'), 400],
  ['an object for a name', post([HOST, RIGHT, JSON_TYPE], '{"name":{"$ne":""},"plan":"pro"}'), 400],
  ['brackets without end', post([HOST, RIGHT, JSON_TYPE], '['.repeat(16_000)), 400],
  ['a direction mark in a name', post([HOST, RIGHT, JSON_TYPE], '{"name":"In\\u202etruder","plan":"pro"}'), 400],
  ['a number beyond all limits', post([HOST, RIGHT, JSON_TYPE], '{"name":"Intruder","plan":"pro","credit_minor":1e400}'), 400],
  ['a parameter twice', bytes(['GET /admin/v1/teams?limit=1&limit=200 HTTP/1.1', HOST, RIGHT]), 400],
  ['a limit in other digits', bytes(['GET /admin/v1/teams?limit=%D9%A1 HTTP/1.1', HOST, RIGHT]), 400],
  ['an empty Idempotency-Key', post([HOST, RIGHT, JSON_TYPE, 'Idempotency-Key: ']), 400],
  ['one with a space', post([HOST, RIGHT, JSON_TYPE, 'Idempotency-Key: a b']), 400],
  ['one that is too long', post([HOST, RIGHT, JSON_TYPE, `Idempotency-Key: ${'a'.repeat(129)}`]), 400],
  ['one that is not ASCII', post([HOST, RIGHT, JSON_TYPE, 'Idempotency-Key: \xe9']), 400],
  ['two of them', post([HOST, RIGHT, JSON_TYPE, 'Idempotency-Key: a', 'Idempotency-Key: b']), 400],
];

onOneGateway({ config: CONFIG }, (setting) => {
  const { call, answered, audits } = adminClient(setting, TOKEN);

  /** The status of the one answer to these bytes, and everything received; 0 if the connection ended without an answer. */
  async function send(sent: Buffer): Promise<{ status: number; text: string }> {
    const connection = await RawConnection.open({ port: setting.gateway.opsPort });
    try {
      connection.send(sent);
      const head = sent.subarray(0, 5).toString() === 'HEAD ';
      const { status, body } = await connection.response({ head });
      return { status, text: body + connection.unread };
    } catch (error) {
      if (error instanceof Error && error.message.includes('the connection ended')) return { status: 0, text: '' };
      throw error;
    } finally {
      connection.destroy();
    }
  }

  const state = async (): Promise<unknown> => ({ teams: (await call('GET', '/teams?limit=200')).body, audits: audits().length });

  describe.each<readonly [string, readonly Attack[]]>([
    ['credentials', CREDENTIALS],
    ['names of the listener', [...HOSTS, ...MORE_HOSTS]],
    ['paths', PATHS],
    ['requests', REQUESTS],
  ])('%s', (_kind, attacks) => {
    const rows = attacks.map(([what, sent, ...statuses]) => ({ what, sent, statuses }));
    test.each(rows)('$what is refused, and changes nothing', async ({ sent, statuses }) => {
      const before = await state();
      const { status, text } = await send(sent);
      expect(statuses).toContain(status);
      expect(text).not.toContain(TOKEN);
      expect(await state()).toEqual(before);
    });
  });

  test('no refused request got a script, a foreign origin or an internal error back', async () => {
    const path = '/teams?%3Cscript%3Ealert(1)%3C/script%3E=1';
    const answer = await call('GET', path, { headers: { origin: 'http://evil.example' } });
    expectProblem(answer, 'validation_error');
    expect(answer.header('x-content-type-options')).toBe('nosniff');
    expect(answer.header('content-security-policy')).toContain("default-src 'none'");
    expect(answer.header('access-control-allow-origin')).toBeUndefined();
    expect(answer.body).not.toMatch(/node:|\.ts|at \w+ \(/);
  });

  describe('an Idempotency-Key', () => {
    const fresh = (): Record<string, string> => ({ 'idempotency-key': randomBytes(8).toString('hex') });
    const named = async (name: string): Promise<unknown[]> =>
      (await answered('listTeams', call('GET', `/teams?q=${name}`)))['teams'] as unknown[];

    test('executes one of fifty concurrent requests, logged once', async () => {
      const [headers, name, before] = [fresh(), `Fifty-${randomBytes(4).toString('hex')}`, audits().length];
      const all = await Promise.all(
        Array.from({ length: 50 }, () => answered('createTeam', call('POST', '/teams', { headers, body: { name, plan: 'pro' } }))),
      );
      expect(new Set(all.map((one) => one['team_id'])).size).toBe(1);
      expect(await named(name)).toHaveLength(1);
      expect(audits()).toHaveLength(before + 1);
    });

    test('is refused with another path or another body, and can be reused after a refusal', async () => {
      const headers = fresh();
      expectProblem(await call('POST', '/teams', { headers, body: { name: 'Free', plan: 'none' } }), 'validation_error');
      const { team_id: id } = await answered('createTeam', call('POST', '/teams', { headers, body: { name: 'Free', plan: 'pro' } }));
      expectProblem(await call('POST', '/teams', { headers, body: { name: 'Freed', plan: 'pro' } }), 'validation_error');
      expectProblem(await call('POST', `/teams/${String(id)}/keys`, { headers, body: { mode: 'live' } }), 'validation_error');
      expect((await answered('listKeys', call('GET', `/teams/${String(id)}/keys`)))['keys']).toEqual([]);
    });

    test('does not replace the token: without it, a stored answer is not returned', async () => {
      const headers = fresh();
      await answered('createTeam', call('POST', '/teams', { headers, body: { name: 'Mine', plan: 'pro' } }));
      const answer = await call('POST', '/teams', { headers, body: { name: 'Mine', plan: 'pro' }, token: null });
      expect([401, 429]).toContain(answer.status);
      expect(answer.body).not.toContain('team_id');
    });
  });
});

test('10,000 guesses of a token from one address: ten get 401, all others 429; the right one is accepted meanwhile', async () => {
  const gateway = await startedUntil(onTestFinished).gateway({ listener: 'node', engineUrls: ['http://127.0.0.1:1'], config: CONFIG });
  const agent = new Agent({ keepAlive: true, maxSockets: 8, localAddress: '127.0.0.9' });
  const statusOf = (token: string): Promise<number> =>
    new Promise((resolve, reject) => {
      const headers = { host: '127.0.0.1', authorization: `Bearer ${token}` };
      const sent = httpRequest({ host: '127.0.0.1', port: gateway.opsPort, path: '/admin/v1/plans', agent, headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      sent.on('error', reject);
      sent.end();
    });
  const counts = new Map<number, number>();
  for (let done = 0; done < TRIES; done += 500) {
    // Guesses that share more and more of its beginning are treated like all others.
    const guesses = Array.from({ length: 500 }, (_, i) => `${TOKEN.slice(0, i % TOKEN.length)}${randomBytes(24).toString('hex')}`);
    for (const status of await Promise.all(guesses.map(statusOf))) counts.set(status, (counts.get(status) ?? 0) + 1);
    expect(await statusOf(TOKEN)).toBe(200);
  }
  agent.destroy();
  // Within a minute; if the machine takes longer, ten more guesses get 401.
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([401, 429]);
  expect(counts.get(401)).toBeLessThanOrEqual(30);
  expect(counts.get(401)! + counts.get(429)!).toBe(TRIES);
});
