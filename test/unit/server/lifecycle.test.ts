// Starting and stopping: ports, TLS files, and a drain that loses no request.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { drain } from '../../../src/server/lifecycle.ts';
import { ListenError } from '../../../src/server/listener.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { LISTENERS, startTestServer } from './test-gateway.ts';

let folder: string;
let certFile: string;
let keyFile: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lingate-tls-'));
  ({ certFile, keyFile } = await makeCertificate(folder, 'localhost'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(LISTENERS)('the %s listener', (_name, start) => {
  test('a port in use is one clear error', async () => {
    const server = await startTestServer(start);
    const second = startTestServer(start, { port: server.port });
    await expect(second).rejects.toBeInstanceOf(ListenError);
    await expect(second).rejects.toMatchObject({ reason: 'port_in_use' });
    await expect(second).rejects.toThrow(
      `cannot listen on 127.0.0.1:${server.port}: the port is in use; stop what listens there, or choose another port`,
    );
    expect((await request({ port: server.port, path: '/sync' })).status).toBe(200);
    server.close();
  });

  test('an address of another machine is one clear error', async () => {
    const started = startTestServer(start, { host: '192.0.2.1' });
    await expect(started).rejects.toMatchObject({ reason: 'cannot_listen' });
    await expect(started).rejects.toThrow(/does not have that address/);
  });

  test('workers may share a port on purpose', async () => {
    const free = await startTestServer(start);
    free.close();
    const first = await startTestServer(start, { exclusive: false, port: free.port });
    const second = await startTestServer(start, { exclusive: false, port: free.port });
    await expect(startTestServer(start, { port: free.port })).rejects.toMatchObject({ reason: 'port_in_use' });
    first.close();
    expect((await request({ port: second.port, path: '/sync' })).status).toBe(200);
    second.close();
  });

  test('TLS from certificate and key files', async () => {
    const server = await startTestServer(start, { tls: { certFile, keyFile } });
    const connection = await RawConnection.open({ port: server.port, tls: true });
    for (const path of ['/sync', '/async']) {
      connection.send(requestBytes({ path }));
      expect((await connection.response()).status).toBe(200);
    }
    connection.send(requestBytes({ method: 'POST', path: '/echo', body: 'secret', headers: { Connection: 'close' } }));
    expect((await connection.response()).json()).toMatchObject({ text: 'secret' });
    await connection.ended;
    connection.destroy();
    server.close();
  });

  test('plain HTTP on a TLS port is cut off, and harms no other connection', async () => {
    const server = await startTestServer(start, { tls: { certFile, keyFile } });
    const connection = await RawConnection.open(server);
    connection.send(requestBytes({ path: '/sync' }));
    await connection.ended;
    connection.destroy();
    expect((await request({ port: server.port, path: '/sync', tls: true })).status).toBe(200);
    server.close();
  });

  test('wrong TLS files are one clear error', async () => {
    const missing = join(folder, 'missing.pem');
    await expect(startTestServer(start, { tls: { certFile: missing, keyFile } })).rejects.toThrow(/^TLS: the certificate .* \(ENOENT\)$/);
    const text = join(folder, 'text.pem');
    writeFileSync(text, 'not a key');
    await expect(startTestServer(start, { tls: { certFile, keyFile: text } })).rejects.toThrow(
      /are not a PEM certificate and its private key$/,
    );
  });

  test('a drain lets requests in flight end, closes their connections, and refuses new ones', async () => {
    const server = await startTestServer(start);
    const waiting = await RawConnection.open(server);
    waiting.send(requestBytes({ path: '/wait' }));
    await server.until(() => server.gateway.inFlight === 1);
    const drained = drain({ listeners: [server.listener], gateway: server.gateway, deadlineMs: 10_000 });
    await expect(RawConnection.open(server)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    server.letGo();
    const response = await waiting.response();
    expect([response.status, response.headers['connection']]).toEqual([200, 'close']);
    expect(await waiting.ended).toBe('fin');
    expect(await drained).toBe(0);
    server.close();
  });

  test('during a drain an idle connection is served once more and told to close', async () => {
    const server = await startTestServer(start);
    const idle = await RawConnection.open(server);
    idle.send(requestBytes({ path: '/sync' }));
    expect((await idle.response()).headers['connection']).not.toBe('close');
    const drained = drain({ listeners: [server.listener], gateway: server.gateway, deadlineMs: 10_000 });
    idle.send(requestBytes({ method: 'POST', path: '/echo', body: 'still here' }));
    const response = await idle.response();
    expect(response.json()).toMatchObject({ text: 'still here' });
    expect(response.headers['connection']).toBe('close');
    expect(await idle.ended).toBe('fin');
    expect(await drained).toBe(0);
    server.close();
  });

  test('a request that hangs is cut off at the deadline, and settled', async () => {
    const server = await startTestServer(start);
    const hanging = await RawConnection.open(server);
    hanging.send(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhel`);
    await server.until(() => server.gateway.inFlight === 1);
    expect(await drain({ listeners: [server.listener], gateway: server.gateway, deadlineMs: 50 })).toBe(1);
    await hanging.ended;
    await server.until(() => server.settled.includes('POST /echo client_closed'));
    expect(server.gateway.inFlight).toBe(0);
    hanging.destroy();
    server.close();
  });
});
