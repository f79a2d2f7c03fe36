// "Why did customer X get a 503?", "which parameter was wrong in that 400?": log line, admin API and console have the answer.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { status } from '../../src/testing.ts';
import { answered as stored } from '../../src/index.ts';
import type { ScriptedEngine } from '../../src/testing/scripted-engine.ts';
import { adminClient } from '../support/admin-client.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { ask } from '../support/every-gateway.ts';
import { freePort } from '../support/free-port.ts';
import { FACADES } from '../support/fronts.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import { inProcess } from '../support/lingate-command.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startedUntil } from '../support/started.ts';
import type { StorePlace } from '../support/store-place.ts';
import { written } from '../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
interface Reported {
  readonly request_id: string;
  readonly [member: string]: unknown;
}

const started = startedUntil(afterAll);
let place: StorePlace;
let engine: ScriptedEngine;
let gateway: TestGateway;
let team: TestTeam;
let other: TestTeam;

beforeAll(async () => {
  place = await started.place('sqlite');
  engine = await started.engine();
  gateway = await started.gateway({
    store: place.url,
    config: {
      plugins: FACADES,
      admin: { token: TOKEN },
      // Nobody listens at the second one's address.
      engines: {
        small: { urls: [engine.url], timeout_ms: 1500 },
        gone: { urls: [`http://127.0.0.1:${await freePort()}`], timeout_ms: 20_000 },
      },
    },
  });
  [team, other] = [await gateway.team(), await gateway.team()];
});

function post(path: string, body: object, { key } = team, headers: Readonly<Record<string, string>> = {}): Promise<HttpResponse> {
  return ask({ gateway }, { method: 'POST', path, key, headers, body });
}

const HELLO = { text: ['Hello'], source_lang: 'EN', target_lang: 'DE' };
const idOf = (answer: HttpResponse): string => String(answer.header('x-request-id'));

async function lineOf(answer: HttpResponse): Promise<object> {
  const found = (): string | undefined =>
    gateway.logLines.find((line) => line.includes(`"request_id":"${idOf(answer)}"`) && line.includes('"msg":"request"'));
  await expect.poll(found).toBeDefined();
  return JSON.parse(found()!) as object;
}

async function reported(query: string): Promise<{ readonly requests: readonly Reported[]; readonly next: string | null }> {
  const answer = await adminClient({ gateway }, TOKEN).call('GET', `/requests${query}`);
  expect([answer.status, answer.body]).toEqual([200, expect.any(String)]);
  return answer.json() as { requests: Reported[]; next: string | null };
}

describe('a 503', () => {
  test('has the failure of each attempt in its log line, which is a warning, and in the list', async () => {
    engine.always('hang');
    const answer = await post('/v1/translate', HELLO);
    engine.always('ok');
    expect(answer.status).toBe(503);
    expect(await lineOf(answer)).toMatchObject({
      level: 'warn',
      code: 'engine_unavailable',
      engine: 'gone',
      failures: ['timeout', 'connect:refused'],
    });
    const { requests } = await reported(`?team=${team.teamId}&status=503`);
    expect(requests).toEqual([
      {
        request_id: idOf(answer),
        at: expect.stringMatching(/^20.*Z$/) as unknown,
        team_id: team.teamId,
        key_id: team.keyId,
        route: 'POST /v1/translate',
        status: 503,
        code: 'engine_unavailable',
        failures: ['timeout', 'connect:refused'],
        parameter: null,
        engine: 'gone',
        limit_of: null,
      },
    ]);
  });

  test('has the status with which an engine answered', async () => {
    engine.behave(status(500));
    const failing = await post('/v1/translate', HELLO);
    expect(failing.status).toBe(503);
    expect(await lineOf(failing)).toMatchObject({ failures: ['status:500', 'connect:refused'] });
  });
});

describe('a 400', () => {
  test.each([
    ['/v1/translate', { ...HELLO, text: ['a', ''] }, 400, 'text[1]'],
    ['/v1/translate', { ...HELLO, glosary_id: 'x' }, 400, '(unknown)'],
    ['/v1/translate', { ...HELLO, target_lang: 'XX' }, 400, 'target_lang'],
    ['/v2/translate', { ...HELLO, formality: 'rude' }, 400, 'formality'],
    ['/v2/translate', { ...HELLO, text: Array.from({ length: 51 }, () => 'a') }, 413, 'text'],
  ])('%s with %j says which parameter was wrong', async (path, body, expected, parameter) => {
    const answer = await post(path, body);
    expect(answer.status).toBe(expected);
    const said = { status: expected, parameter };
    expect(await lineOf(answer)).toMatchObject({ level: 'info', ...said });
    expect(await reported(`?request_id=${idOf(answer)}`)).toMatchObject({ requests: [{ ...said, failures: [] }], next: null });
  });

  test('nothing of the text is in the line or in the list', async () => {
    const answer = await post('/v1/translate', { ...HELLO, text: ['TOP SECRET'], 'a secret member': 1 });
    expect(answer.status).toBe(400);
    expect(JSON.stringify([await lineOf(answer), await reported('')])).not.toMatch(/secret/i);
  });
});

describe('the list', () => {
  test('is filtered by team, code and time, and read in pages', async () => {
    for (let i = 0; i < 3; i++) await post('/v1/translate', { ...HELLO, text: [] }, other);
    const mine = `?team=${other.teamId}&code=validation_error`;
    const first = await reported(`${mine}&limit=2`);
    expect(first.requests).toHaveLength(2);
    const second = await reported(`${mine}&limit=2&cursor=${first.next!}`);
    expect(second).toMatchObject({ requests: [{ team_id: other.teamId }], next: null });
    const ids = [...first.requests, ...second.requests].map(({ request_id: id }) => id);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
    expect(await reported(`${mine}&since=2999-01-01`)).toEqual({ requests: [], next: null });
    expect((await reported(`${mine}&since=2020-01-01T00:00Z`)).requests).toHaveLength(3);
  });

  test.each([
    ['team=x', 'team: '],
    ['status=99', 'status: '],
    ['code=No', 'code: '],
    ['since=yesterday', 'since: '],
    ['request_id=1', 'request_id: '],
  ])('refuses %s and says what would be right', async (query, begin) => {
    const answer = await adminClient({ gateway }, TOKEN).call('GET', `/requests?${query}`);
    expect(answer.status).toBe(400);
    expect((answer.json() as { detail: string }).detail.startsWith(begin)).toBe(true);
  });

  test('is found in the console by the name, a part of it or the reference of the team, and since a time of day', async () => {
    const visitor = await ConsoleVisitor.signedIn(gateway.opsPort, TOKEN);
    await gateway.store.teams.updateTeam(other.teamId, { name: 'Harbour <Travel>', reference: 'K-20417' });
    // Its name contains the other's, which all of it names.
    const south = await gateway.team();
    await gateway.store.teams.updateTeam(south.teamId, { name: 'South Harbour <Travel>' });
    const refused = await post('/v1/translate', { ...HELLO, text: ['a', ''] }, other);
    for (const word of ['HARBOUR <travel>', '-20417', 'k-20417', other.teamId]) {
      const query = new URLSearchParams({ team: word, status: '400', since: '00:00' });
      const { status: shown, body } = await visitor.get(`/console/requests?${query.toString()}`);
      expect([shown, body]).toEqual([200, expect.stringContaining(idOf(refused))]);
      expect(body).toMatch(/<p>\s*Requests of team <a [^>]*>Harbour &lt;Travel&gt;<\/a>\.\s*<\/p>/);
      expect(body).not.toContain(team.teamId);
      expect(body).toContain('<a href="/docs/errors#validation-error">validation_error</a>');
    }
    expect((await visitor.get(`/console/teams/${other.teamId}`)).body).toContain(`href="/console/requests?team=${other.teamId}"`);
  });

  test('says beside the form which teams a word means, if that is none or several', async () => {
    const visitor = await ConsoleVisitor.signedIn(gateway.opsPort, TOKEN);
    const twins = [(await gateway.team()).teamId, (await gateway.team()).teamId];
    for (const twin of twins) await gateway.store.teams.updateTeam(twin, { name: 'A Twin' });
    for (const [word, fault] of [
      ['Nobody', 'team: there is no team with this name, reference or id.'],
      ['a twin', `team: 2 teams match; enter the id of one: A Twin (${twins[0]}); A Twin (${twins[1]}).`],
    ] as const) {
      const page = await visitor.get(`/console/requests?team=${encodeURIComponent(word)}`);
      expect([page.status, page.body]).toEqual([400, expect.stringContaining(`<p class="fault" role="alert">${fault}</p>`)]);
    }
  });
});

describe('lingate requests', () => {
  const asked = (args: readonly string[], more: object = {}, env: Readonly<Record<string, string>> = {}) => {
    const config = { store: place.url, admin: { token: TOKEN }, ops: `127.0.0.1:${gateway.opsPort}`, ...more };
    return inProcess(['requests', ...args, '--config', written(JSON.stringify(config))], env);
  };

  test('says why a customer, by name, got a 503 since a time of day', async () => {
    engine.always('hang');
    const answer = await post('/v1/translate', HELLO);
    engine.always('ok');
    expect(answer.status).toBe(503);
    const { name } = stored(await gateway.store.teams.findTeam(team.teamId))!;
    // Other teams of this store have the same name.
    await gateway.store.teams.updateTeam(team.teamId, { name: `${name} & Co` });
    const { status: ended, stdout, stderr } = await asked(['--team', `${name} & co`, '--status', '503', '--since', '00:00']);
    expect([ended, stderr]).toEqual([0, '']);
    const line = stdout.split('\n').find((one) => one.includes(idOf(answer)))!;
    expect(line).toMatch(/POST \/v1\/translate +503 {2}engine_unavailable {2}timeout, then connect:refused at gone/);
    expect(line).toContain(team.teamId);
  });

  test('takes the token from LINGATE_ADMIN_TOKEN where the configuration has none, as for a demo', async () => {
    const answer = await post('/v1/translate', { ...HELLO, text: ['a', ''] });
    const without = { admin: undefined };
    const { status: ended, stdout } = await asked(['--request-id', idOf(answer)], without, { LINGATE_ADMIN_TOKEN: TOKEN });
    expect([ended, stdout]).toEqual([0, expect.stringContaining(idOf(answer))]);
    const wrong = await asked([], without, { LINGATE_ADMIN_TOKEN: 'x'.repeat(40) });
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('does not know this admin token')]);
  });

  test('prints every page', async () => {
    for (let i = 0; i < 205; i++) await post('/v1/translate', { ...HELLO, text: [] }, other);
    const { stdout } = await asked(['--team', other.teamId, '--json']);
    const ids = (JSON.parse(stdout) as { requests: Reported[] }).requests.map(({ request_id: id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(205);
    expect(ids).toEqual([...new Set(ids)].toSorted().toReversed());
  });

  test.each([
    [['--since', 'yesterday'], {}, 2, '--since "yesterday" is not a UTC day'],
    [['--status', '99'], {}, 2, '--status 99 is too small; it must be at least 100'],
    [['--team', 'Nobody of this name'], {}, 1, 'there is no team with this name, reference or id'],
    [[], { admin: undefined }, 1, 'the configuration has none: name its configuration by --config, or set LINGATE_ADMIN_TOKEN'],
    [
      [],
      { admin: { token: 'x'.repeat(40) } },
      1,
      'does not know this admin token: use the configuration and the environment that it runs with',
    ],
    [[], { ops: '127.0.0.1:1' }, 1, 'no gateway answers at http://127.0.0.1:1 (ECONNREFUSED): start it, or name its ops listener by --ops'],
  ])('%j with %j says what to do', async (args, more, expected, words) => {
    const { status: ended, stderr } = await asked(args, more);
    expect([ended, stderr]).toEqual([expected, expect.stringContaining(words)]);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
