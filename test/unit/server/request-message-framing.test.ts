// Broken framing is refused with a problem document and a closed connection, and nothing smuggled after it is ever handled.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { HeaderFields } from '../../../src/server/request-message.ts';
import { RawConnection, request } from '../../support/raw-http.ts';
import { UWS_COLUMN } from '../../support/listeners.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';
import type { TestServer } from './test-gateway.ts';

/** Both listeners answer these with 400 `validation_error`. The last member is what follows the head. */
const BROKEN: readonly (readonly [what: string, fields: readonly string[], body: string])[] = [
  ['two different Content-Length', ['Host: a', 'Content-Length: 0', 'Content-Length: 3'], 'abc'],
  ['two equal Content-Length', ['Host: a', 'Content-Length: 3', 'Content-Length: 3'], 'abc'],
  ['an empty Content-Length', ['Host: a', 'Content-Length:'], ''],
  ['neither length nor chunking', ['Host: a'], ''],
  ['an unknown transfer coding', ['Host: a', 'Transfer-Encoding: xchunked'], '0\r\n\r\n'],
  ['two transfer codings in one field', ['Host: a', 'Transfer-Encoding: gzip, chunked'], '0\r\n\r\n'],
  ['Transfer-Encoding twice', ['Host: a', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'], '0\r\n\r\n'],
  ['an empty Transfer-Encoding beside a length', ['Host: a', 'Content-Length: 3', 'Transfer-Encoding:'], 'abc'],
  ['an empty Host', ['Host:', 'Content-Length: 3'], 'abc'],
  ['a Host with a user and a path', ['Host: u@a/b', 'Content-Length: 3'], 'abc'],
  ['a length hidden behind an empty field name', ['Host: a', ': b', 'Content-Length: 3'], ''],
];

/** The newer build of uWebSockets.js refuses it itself, in HTML. */
const TWO_HOSTS: (typeof BROKEN)[number] = ['Host twice', ['Host: a', 'Host: b', 'Content-Length: 3'], 'abc'];

const TAIL = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';

describe.each(LISTENERS)('the %s listener', (name, start) => {
  const broken = name === 'uws' && UWS_COLUMN === 'newer' ? BROKEN : [...BROKEN, TWO_HOSTS];
  let server: TestServer;

  beforeAll(async () => {
    server = await startTestServer(start);
  });

  afterAll(() => server.close());

  test.each(broken)('%s: 400 validation_error, and the connection closes', async (_what, fields, body) => {
    const connection = await RawConnection.open(server);
    connection.send(`POST /echo HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`);
    const response = await connection.response();
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.headers['connection']).toBe('close');
    expect(response.json()).toMatchObject({ code: 'validation_error', status: 400, request_id: response.headers['x-request-id'] });
    await connection.ended;
    connection.destroy();
    expect(server.handled).not.toContain('POST /echo');
  });

  test.each(BROKEN)('%s: a request smuggled after it is never handled', async (_what, fields, body) => {
    const connection = await RawConnection.open(server);
    connection.send(`POST /echo HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}${TAIL}`);
    await connection.ended;
    connection.destroy();
    expect(server.handled).not.toContain('GET /smuggled');
  });

  test.each(['1\r\nx\r\n\r\n', '1\r\nx\r\n0\r\nTrailer: a\r\n\r\n', '5;a=b\r\nhello\r\n0\r\n\r\n', '0\r\n\r\n'])(
    'nothing after a chunked body is handled, well-formed or not: %j',
    async (body) => {
      const connection = await RawConnection.open(server);
      connection.send(`POST /closed HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}${TAIL}`);
      // The library takes a chunk extension for a huge size and waits for the rest, so our side ends it.
      await Promise.race([connection.ended, server.until(() => server.settled.some((line) => line.startsWith('POST /closed')))]);
      connection.finish();
      await connection.ended;
      connection.destroy();
      expect(server.handled).not.toContain('GET /smuggled');
    },
  );

  test('a PUT without a length is answered as such, and what follows is never handled', async () => {
    const connection = await RawConnection.open(server);
    connection.send('PUT /echo HTTP/1.1\r\nHost: a\r\n\r\n');
    const response = await connection.response();
    expect([response.status, response.headers['allow'], response.headers['connection']]).toEqual([405, 'POST', 'close']);
    await connection.ended;
    const again = await RawConnection.open(server);
    again.send(`PUT /echo HTTP/1.1\r\nHost: a\r\n: b\r\nContent-Length: 40\r\n\r\n${TAIL}`);
    await again.ended;
    expect(server.handled).not.toContain('GET /smuggled');
    connection.destroy();
    again.destroy();
  });

  test('the sender of a large body with broken framing can still read its 400', async () => {
    const connection = await RawConnection.open(server);
    connection.send(`POST /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(20_000)}`);
    expect((await connection.response()).status).toBe(400);
    connection.destroy();
  });

  test('a refused request is settled like any other', async () => {
    const before = server.settled.length;
    await request({ port: server.port, headers: { Host: 'a b' } });
    expect(server.settled.slice(before)).toEqual([expect.stringMatching(/ validation_error$/)]);
  });
});

describe('the framing guard', () => {
  const judge = (fields: readonly (readonly [string, string])[], method = 'GET', http10 = false): string | undefined => {
    const guard = new HeaderFields(new Set());
    for (const [name, value] of fields) guard.field(name, value);
    return guard.judge(method, http10);
  };

  test.each(['a', 'example.com', 'example.com:8080', '127.0.0.1:1', '[::1]:8080', '[::ffff:1.2.3.4]', 'under_score.test', 'a:'])(
    'accepts Host %s',
    (host) => {
      expect(judge([['host', host]])).toBeUndefined();
    },
  );

  test.each(['', 'a b', 'u@a', 'a/b', 'a:b', 'a:1:2', '[::1', 'a,b', 'a\\b', 'a#b', 'a?b', 'a:123456'])('refuses Host %j', (host) => {
    expect(judge([['host', host]])).toContain('Host');
  });

  test.each(['0', '5', '005', '999999999999999'])('accepts Content-Length %s', (length) => {
    expect(
      judge([
        ['host', 'a'],
        ['content-length', length],
      ]),
    ).toBeUndefined();
  });

  test.each(['', '+5', '-1', '0x5', '5, 5', '5 5', '1e3', '1234567890123456'])('refuses Content-Length %j', (length) => {
    expect(
      judge([
        ['host', 'a'],
        ['content-length', length],
      ]),
    ).toContain('Content-Length');
  });

  test('requires a Host in HTTP/1.1, but not in HTTP/1.0, where it refuses chunking', () => {
    expect(judge([])).toContain('Host');
    expect(judge([], 'GET', true)).toBeUndefined();
    expect(judge([['transfer-encoding', 'chunked']], 'POST', true)).toContain('Transfer-Encoding');
  });

  test('keeps nothing of the request before', () => {
    const guard = new HeaderFields(new Set());
    guard.field('host', 'a');
    guard.field('transfer-encoding', 'chunked');
    guard.field('connection', 'close');
    expect([guard.judge('POST'), guard.chunked, guard.closes]).toEqual([undefined, true, true]);
    guard.start();
    guard.field('host', 'b');
    expect([guard.judge('GET'), guard.chunked, guard.closes, guard.bodyBytes, guard.connection]).toEqual([undefined, false, false, 0, '']);
  });
});
