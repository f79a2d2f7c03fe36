// The exact bytes of requests to an engine, and what is never sent.
import { afterEach, describe, expect, test } from 'vitest';
import { lengthAnswer, make, RawEngine, wireTo } from '../raw-engine.ts';
import type { Pool } from '../../../../src/engines/http1/pool.ts';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).toReversed()) await item.close();
});

async function scene(host = '127.0.0.1'): Promise<{ engine: RawEngine; wire: Pool }> {
  const engine = await new RawEngine().listen(host);
  const wire = wireTo(`http://${host.includes(':') ? `[${host}]` : host}:${engine.port}/base/`);
  open.push(engine, { close: () => wire.destroy() });
  return { engine, wire };
}

describe('a request', () => {
  test('is sent unchanged, under the path of the replica, with its length in bytes', async () => {
    const { engine, wire } = await scene();
    const body = '日本語 é \u{1f600} \ud800';
    expect(await make(wire, { path: '/a?b=c', headers: { 'x-a': 'b c' }, body }).result).toBe(`200 ${body.toWellFormed()}`);
    const bytes = Buffer.from(body);
    const head = `POST /base/a?b=c HTTP/1.1\r\nHost: 127.0.0.1:${engine.port}\r\nAccept-Encoding: identity\r\nConnection: keep-alive\r\nx-a: b c\r\nContent-Length: ${bytes.length}\r\n\r\n`;
    expect(engine.connections[0]!.received).toBe(head + bytes.toString('latin1'));
  });

  test('without a body has a length of 0 if it is a POST, and none if it is a GET', async () => {
    const { engine, wire } = await scene();
    expect(await make(wire, { body: undefined }).result).toBe('200 ');
    expect(await make(wire, { body: undefined, method: 'GET' }, 'fresh').result).toBe('200 ');
    expect(engine.connections.map(({ received }) => /Content-Length: .*/.exec(received)?.[0])).toEqual(['Content-Length: 0', undefined]);
  });

  test('has the fields that the operator adds, which an adapter cannot repeat', async () => {
    const engine = await new RawEngine().listen();
    const wire = wireTo(`http://127.0.0.1:${engine.port}`, { headers: { 'X-Token': 'operator' } });
    open.push(engine, { close: () => wire.destroy() });
    const calls = [make(wire, { headers: { 'x-token': 'adapter', 'x-a': 'b' } }), make(wire, {}, 'fresh')];
    expect(await Promise.all(calls.map(({ result }) => result))).toEqual(['200 body', '200 body']);
    const heads = engine.connections.map(({ received }) => received.toLowerCase());
    for (const head of heads) expect(head.split('x-token')).toHaveLength(2);
    expect(heads.join('')).toContain('\r\nx-token: operator\r\n');
    expect(heads.join('')).not.toContain('adapter');
  });

  test('has the request’s id instead of any that the adapter sets', async () => {
    const { engine, wire } = await scene();
    const set: Record<string, string>[] = [{}, { 'x-request-id': 'adapter' }, { 'X-Request-ID': 'adapter', 'content-type': 'text/plain' }];
    for (const headers of set) {
      expect(await make(wire, { headers }, 'fresh', { requestId: '01ID' }).result).toBe('200 body');
    }
    for (const { received } of engine.connections) expect(received.match(/^x-request-id: .*$/gim)).toEqual(['x-request-id: 01ID']);
  });

  test('names an IPv6 engine in brackets', async () => {
    const { engine, wire } = await scene('::1');
    expect(await make(wire).result).toBe('200 body');
    expect(engine.connections[0]!.received).toContain(`\r\nHost: [::1]:${engine.port}\r\n`);
  });

  test.each([
    ['a line break in a value', { headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['a bare LF in a value', { headers: { 'x-a': 'b\nc' } }],
    ['a NUL in a value', { headers: { 'x-a': 'b\0' } }],
    ['a value beyond ASCII', { headers: { 'x-a': '\u560a' } }],
    ['a line break in a name', { headers: { 'x-a: b\r\nx-c': 'd' } }],
    ['a space in a name', { headers: { 'x a': 'b' } }],
    ['an empty name', { headers: { '': 'b' } }],
    ['a length of its own', { headers: { 'Content-LENGTH': '3' } }],
    ['a coding of its own', { headers: { 'transfer-encoding': 'chunked' } }],
    ['a host of its own', { headers: { host: 'x' } }],
    ['a request for an interim response', { headers: { expect: '100-continue' } }],
    ['a request for another protocol', { headers: { upgrade: 'h2c' } }],
    ['a line break in its path', { path: '/a HTTP/1.1\r\nx: y' }],
    ['a space in its path', { path: '/a b' }],
    ['a path beyond ASCII', { path: '/\xe9' }],
  ])('with %s is a bug of ours and never sent', async (_name, parts) => {
    const { engine, wire } = await scene();
    expect(await make(wire, parts as Record<string, unknown>).result).toBe('internal');
    expect(await make(wire).result).toBe('200 body');
    expect(engine.connections.map(({ requests }) => requests)).toEqual([1]);
  });

  test('of a mebibyte, with such an answer, is complete even if the engine is slow', async () => {
    const { engine, wire } = await scene();
    const body = 'é\u{1f600}x'.repeat(150_000);
    engine.respond = ({ socket }, got) => {
      const bytes = Buffer.from(lengthAnswer(got));
      for (let at = 0; at < bytes.length; at += 50_000) socket.write(bytes.subarray(at, at + 50_000));
    };
    expect((await make(wire, { body }).result) === `200 ${body}`).toBe(true);
  });
});
