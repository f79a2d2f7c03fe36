// Engines behind TLS: certificates are checked, names too, and HTTP/1.1 is all that is offered.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { make, RawEngine, rested, wireTo } from '../raw-engine.ts';
import type { Pool } from '../../../../src/engines/http1/pool.ts';
import { makeCertificate } from '../../../support/certificate.ts';

const usual = getCACertificates('default');
const folder = mkdtempSync(join(tmpdir(), 'lingate-engine-tls-'));
const open: { close(): Promise<void> }[] = [];
let key: Buffer;
let cert: Buffer;

beforeAll(async () => {
  const { certFile, keyFile } = await makeCertificate(folder, 'engine.test', 'DNS:localhost');
  key = readFileSync(keyFile);
  cert = readFileSync(certFile);
});

afterEach(async () => {
  setDefaultCACertificates(usual);
  for (const item of open.splice(0).toReversed()) await item.close();
});

afterAll(() => rmSync(folder, { recursive: true }));

async function scene(host: string): Promise<{ engine: RawEngine; wire: Pool }> {
  const server = createServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] });
  const engine = await new RawEngine(server).listen('127.0.0.1', 'secureConnection');
  const wire = wireTo(`https://${host}:${engine.port}`);
  open.push(engine, { close: () => wire.destroy() });
  return { engine, wire };
}

describe('an engine behind TLS', () => {
  test('whose certificate is trusted is called by its name, over connections that are used again', async () => {
    setDefaultCACertificates([...usual, cert.toString()]);
    const { engine, wire } = await scene('localhost');
    const body = 'é'.repeat(200_000);
    const resumed: boolean[] = [];
    const { respond } = engine;
    engine.respond = (connection, got) => {
      resumed.push((connection.socket as TLSSocket).isSessionReused());
      respond(connection, got);
    };
    for (const connection of ['reused', 'reused', 'fresh', 'fresh'] as const) {
      expect((await make(wire, { body }, connection).result) === `200 ${body}`).toBe(true);
      await rested();
    }
    expect(engine.connections.map(({ requests }) => requests)).toEqual([2, 1, 1]);
    const socket = engine.connections[0]!.socket as TLSSocket & { readonly servername: string };
    expect([socket.alpnProtocol, socket.servername]).toEqual(['http/1.1', 'localhost']);
    expect(engine.connections[0]!.received).toContain(`\r\nHost: localhost:${engine.port}\r\n`);
    // The handshake was not made anew for each.
    expect(resumed).toEqual([false, false, true, true]);
  });

  test.each([
    ['is not trusted', 'localhost', false],
    ['is for another name', '127.0.0.1', true],
  ])('whose certificate %s cannot be connected to, and hears nothing', async (_name, host, trusted) => {
    if (trusted) setDefaultCACertificates([...usual, cert.toString()]);
    const { engine, wire } = await scene(host);
    expect(await make(wire).result).toBe('connect');
    expect(engine.connections.map(({ received }) => received).join('')).toBe('');
  });

  test('is not one when it speaks in the clear', async () => {
    const engine = await new RawEngine().listen();
    const wire = wireTo(`https://localhost:${engine.port}`);
    open.push(engine, { close: () => wire.destroy() });
    const made = make(wire);
    await engine.until(() => engine.connections.length === 1);
    engine.connections[0]!.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(await made.result).toBe('connect');
  });

  test('can be given up while the handshake is under way', async () => {
    const engine = await new RawEngine().listen();
    const wire = wireTo(`https://localhost:${engine.port}`);
    open.push(engine, { close: () => wire.destroy() });
    const made = make(wire);
    await engine.until(() => engine.connections.length === 1);
    made.call.stop('timeout');
    expect(await made.result).toBe('timeout');
    await engine.until(() => engine.open === 0);
  });
});
