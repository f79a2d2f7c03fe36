// Forward routes, as a caller and an operator see them: on both listeners and both stores.
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { ask, expectProblem, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { readResponse } from '../support/raw-response.ts';
import { downloadPiece, sha256, startUpstream } from '../support/upstream.ts';
import { withinASecond } from '../support/within-a-second.ts';

const upstream = await startUpstream();
afterAll(() => upstream.close());

const target = upstream.url;
const config = {
  forward: [
    { path: '/v1/voices', methods: ['GET'], target, response_fields: ['content-type', 'etag'] },
    {
      path: '/v1/documents/*',
      methods: ['GET', 'POST', 'DELETE'],
      target,
      charge_characters: 100,
      body_bytes: 100_000,
      timeout_ms: 20_000,
      request_fields: ['content-type', 'x-kind', 'if-none-match'],
      response_fields: ['content-type', 'etag'],
      statuses: { 404: 'not_found', 422: 'validation_error' },
      headers: { authorization: 'Bearer upstream-secret', 'X-Fixed': 'yes' },
    },
    { path: '/v1/hasty/*', methods: ['GET'], target, charge_characters: 100, timeout_ms: 400 },
    { path: '/v1/free/*', methods: ['GET', 'POST'], target, timeout_ms: 20_000 },
  ],
};

/** Far below the ten seconds after which a library closes a stalled connection. */
const SOON_MS = 3000;

onOneGateway({ config }, (setting) => {
  const team = oneTeam(setting);

  /** With nothing in flight: an answer does not wait for its settlement. */
  const used = async (): Promise<number> => {
    await expect.poll(() => setting.gateway.charged(team)).toBeDefined();
    return (await setting.gateway.charged(team))!;
  };
  const get = (path: string, headers: Record<string, string> = {}) => ask(setting, { path, key: team.key, headers });
  const post = (path: string, body: string, headers: Record<string, string> = {}) =>
    ask(setting, { method: 'POST', path, key: team.key, body, headers });

  test('an answer comes back with the listed fields, and nothing else of the upstream', async () => {
    const answer = await get('/v1/voices?lang=de&q=%7Ba%7D&x=[1]');
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ voices: ['anna'], target: '/v1/voices?lang=de&q=%7Ba%7D&x=[1]' });
    expect(answer.header('etag')).toBe('"v1"');
    expect(answer.header('content-type')).toBe('application/json');
    expect(answer.header('cache-control')).toBe('no-store');
    expect(answer.header('x-request-id')).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(JSON.stringify(answer.rawHeaders)).not.toContain('canary');
    expect(await used()).toBe(0);
  });

  test('the upstream gets the listed fields, the operator’s own, the request id, and framing of ours', async () => {
    await post('/v1/documents/sink', 'hello', {
      'content-type': 'text/plain',
      'x-kind': 'a',
      cookie: 'secret=1',
      'x-forwarded-for': '1.2.3.4',
      'vendor-auth-key': 'x',
      'x-request-id': 'mine',
      te: 'trailers',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    const seen = upstream.seen.at(-1)!;
    const fields = Object.fromEntries(seen.fields.map(([name, value]) => [name.toLowerCase(), value]));
    expect(Object.keys(fields).toSorted()).toEqual([
      'accept-encoding',
      'authorization',
      'connection',
      'content-length',
      'content-type',
      'host',
      'traceparent',
      'x-fixed',
      'x-kind',
      'x-request-id',
    ]);
    expect(fields).toMatchObject({ authorization: 'Bearer upstream-secret', 'x-fixed': 'yes', 'x-kind': 'a', 'content-length': '5' });
    expect(fields['host']).toBe(new URL(target).host);
    expect(fields['x-request-id']).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    expect(fields['traceparent']).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-/);
    expect(fields['traceparent']).not.toContain('b7ad6b7169203331');
  });

  test('a key is needed, and the rate counts', async () => {
    expectProblem(await ask(setting, { path: '/v1/voices' }), 'unauthorized');
    const limited = await withinASecond(async () => {
      const { key } = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      expect((await ask(setting, { path: '/v1/voices', key })).status).toBe(200);
      return ask(setting, { path: '/v1/voices', key });
    });
    expectProblem(limited, 'rate_limited', { limit: 1 });
  });

  test('a charge is made when the whole answer was delivered', async () => {
    const before = await used();
    const answer = await get('/v1/documents/bytes/50000');
    expect(answer.status).toBe(200);
    expect((await post('/v1/documents/sink', 'x')).status).toBe(200);
    expect((await get('/v1/documents')).status).toBe(200);
    expect(await used()).toBe(before + 300);
    const charged = (line: string): boolean => line.includes('GET /v1/documents/*') && line.includes('"characters":100');
    await expect.poll(() => setting.gateway.logLines.some(charged)).toBe(true);
  });

  test('nothing is charged for a failure, and its answer reveals nothing of the upstream', async () => {
    const before = await used();
    const cases: [path: string, code: 'engine_unavailable' | 'not_found' | 'validation_error', tries: number][] = [
      ['documents/status/500', 'engine_unavailable', 2],
      ['documents/status/302', 'engine_unavailable', 2],
      ['documents/status/401', 'engine_unavailable', 2],
      ['documents/status/404', 'not_found', 1],
      ['documents/status/422', 'validation_error', 1],
      ['hasty/silent', 'engine_unavailable', 2],
      ['documents/gzip', 'engine_unavailable', 2],
      ['documents/no-length', 'engine_unavailable', 2],
    ];
    for (const [path, code, tries] of cases) {
      const seenBefore = upstream.seen.length;
      const answer = await get(`/v1/${path}`);
      expectProblem(answer, code);
      expect(`${answer.body}${JSON.stringify(answer.rawHeaders)}`).not.toContain('canary');
      expect([path, upstream.seen.length - seenBefore]).toEqual([path, tries]);
    }
    expect(await used()).toBe(before);
  });

  test('a GET is tried twice, a request with a body once', async () => {
    const path = `/v1/documents/flaky?${setting.listener}${setting.store}`;
    expect((await get(path)).json()).toEqual({ second: true });
    expectProblem(await post(`${path}post`, 'x'), 'engine_unavailable');
    expectProblem(await ask(setting, { method: 'DELETE', path: `${path}delete`, key: team.key }), 'engine_unavailable');
  });

  test('304 and 204 are passed on without a body', async () => {
    for (const status of [204, 304]) {
      const answer = await get(`/v1/documents/empty/${status}`, { 'if-none-match': '"e1"' });
      expect([answer.status, answer.body, answer.header('etag')]).toEqual([status, '', '"e1"']);
    }
    const empty = await get('/v1/documents/empty');
    expect([empty.status, empty.body, empty.header('content-length')]).toEqual([200, '', '0']);
  });

  test('methods without a body refuse one, and other methods are not allowed', async () => {
    const seenBefore = upstream.seen.length;
    for (const method of ['GET', 'DELETE']) {
      expect(expectProblem(await ask(setting, { method, path: '/v1/documents/a', key: team.key, body: 'x' }), 'validation_error')).toBe(
        `body: ${method} takes none.`,
      );
    }
    const answer = await ask(setting, { method: 'PUT', path: '/v1/documents/a', key: team.key, body: 'x' });
    expectProblem(answer, 'method_not_allowed');
    expect(answer.header('allow')).toBe('GET, POST, DELETE');
    expect(upstream.seen.length).toBe(seenBefore);
  });

  test('a body over its limit is refused, announced or not, and not charged', async () => {
    const before = await used();
    const detail = 'body: may be at most 100000 bytes long.';
    expect(expectProblem(await post('/v1/documents/sink', 'x'.repeat(100_001)), 'validation_error')).toBe(detail);
    const chunks = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`.repeat(3);
    const chunked = await post('/v1/documents/sink', `${chunks}0\r\n\r\n`, { 'transfer-encoding': 'chunked' });
    expect(expectProblem(chunked, 'validation_error')).toBe(detail);
    const whole = await post('/v1/documents/sink', 'x'.repeat(100_000));
    expect(whole.json()).toEqual({ bytes: 100_000, sha256: sha256(Buffer.from('x'.repeat(100_000))) });
    expect(await used()).toBe(before + 100);
  });

  test('a chunked body is passed on unchanged', async () => {
    const answer = await post('/v1/free/sink', '5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n', { 'transfer-encoding': 'chunked' });
    expect(answer.json()).toEqual({ bytes: 11, sha256: sha256(Buffer.from('hello world')) });
    expect(upstream.seen.at(-1)!.headers['transfer-encoding']).toBe('chunked');
  });

  test('a quota that is used up refuses before anything is sent upstream', async () => {
    const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50 });
    const seenBefore = upstream.seen.length;
    expectProblem(await ask(setting, { path: '/v1/documents/bytes/10', key: poor.key }), 'quota_exceeded', {
      character_limit: 50,
      overage_cap_minor: 0,
      period_end: expect.any(String) as string,
    });
    expect(upstream.seen.length).toBe(seenBefore);
    expect((await ask(setting, { path: '/v1/free/bytes/10', key: poor.key })).status).toBe(200);
  });

  test('a refusal before the body has been read is passed on at once', async () => {
    expectProblem(await post('/v1/documents/early/404', 'x'.repeat(90_000)), 'not_found');
    expectProblem(await post('/v1/documents/early/500', 'x'.repeat(90_000)), 'engine_unavailable');
  });

  test('sized and chunked answers are identical to the byte', async () => {
    for (const path of ['bytes', 'chunked']) {
      const answer = await get(`/v1/free/${path}/300000`);
      expect(answer.status).toBe(200);
      expect(sha256(answer.bytes)).toBe(sha256(downloadPiece(0, 300_000)));
    }
  });

  test.each(['sink', 'bytes/1000', 'chunked/1000', 'empty/0', 'status/500'])(
    'a connection stays usable after POST …/%s: the next request on it is answered at once',
    async (words) => {
      const socket = connect({ port: setting.gateway.port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      const answerTo = async (request: string): Promise<Buffer> => {
        let bytes = Buffer.alloc(0);
        socket.write(request);
        while (readResponse(bytes, false, false) === undefined) {
          const [piece] = (await once(socket, 'data', { signal: AbortSignal.timeout(SOON_MS) })) as [Buffer];
          bytes = Buffer.concat([bytes, piece]);
        }
        return bytes;
      };
      const head = `Host: a\r\nAuthorization: Bearer ${team.key}\r\n`;
      for (let round = 0; round < 5; round++) {
        const posted = await answerTo(`POST /v1/documents/${words} HTTP/1.1\r\n${head}Content-Length: 500\r\n\r\n${'d'.repeat(500)}`);
        if (/\r\nconnection: close\r\n/i.test(posted.toString('latin1'))) break;
        expect((await answerTo(`GET /v1/languages?type=source HTTP/1.1\r\n${head}\r\n`)).toString()).toMatch(/^HTTP\/1\.1 200 /);
      }
      socket.destroy();
    },
  );

  test('no reservation stays open, and nothing unexpected was logged', async () => {
    await expect.poll(() => setting.gateway.store.teams.standing(team.teamId)).toMatchObject({ heldCharacters: 0, openReservations: 0 });
    expect(setting.gateway.logLines.filter((line) => line.includes('"a bug"'))).toEqual([]);
  });
});
