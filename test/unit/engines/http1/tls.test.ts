// Engines behind TLS: certificates and names are checked, and only HTTP/1.1 is offered.
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import type { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { lengthAnswer, make, RawEngine, rested, wireTo } from '../raw-engine.ts';
import type { Pool } from '../../../../src/engines/http1/pool.ts';
import { makeCertificate } from '../../../support/certificate.ts';

const WAIT_MS_MAX = 30_000;
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

/** A clock that stands still, so that no connection gets too old. */
const STILL = { nowMs: () => 0 };

async function scene(host: string): Promise<{ engine: RawEngine; wire: Pool }> {
  const server = createServer({ key, cert, ALPNProtocols: ['h2', 'http/1.1'] });
  const engine = await new RawEngine(server).listen('127.0.0.1', 'secureConnection');
  const wire = wireTo(`https://${host}:${engine.port}`, STILL);
  open.push(engine, { close: () => wire.destroy() });
  return { engine, wire };
}

const ENGINE = `
const { parentPort, workerData: { key, cert, answers } } = require('node:worker_threads');
let connections = 0;
const server = require('node:tls').createServer({ key, cert }, (socket) => {
  const body = String(++connections);
  const count = () => { Atomics.add(answers, 0, 1); Atomics.notify(answers, 0); };
  socket.on('error', () => undefined).on('data', () => socket.write('HTTP/1.1 200 OK\\r\\nContent-Length: 1\\r\\n\\r\\n' + body, count));
});
server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;

/** An engine in a thread of its own, which answers with the connection's number. `answered` blocks until it has answered so often. */
async function engineThread(): Promise<{ readonly port: number; answered(times: number): void }> {
  const answers = new Int32Array(new SharedArrayBuffer(4));
  const worker = new Worker(ENGINE, { eval: true, workerData: { key, cert, answers } });
  open.push({ close: () => worker.terminate().then(() => undefined) });
  const [port] = (await once(worker, 'message')) as [number];
  return {
    port,
    answered(times) {
      for (let now = Atomics.load(answers, 0); now < times; now = Atomics.load(answers, 0)) {
        if (Atomics.wait(answers, 0, now, WAIT_MS_MAX) === 'timed-out') throw new Error('the engine does not answer');
      }
    },
  };
}

describe('an engine behind TLS', () => {
  test('with a trusted certificate is called by its name, on connections that are reused', async () => {
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
    // There was not a new handshake for each.
    expect(resumed).toEqual([false, false, true, true]);
  });

  test('that answers while our event loop is busy keeps its connection too', async () => {
    setDefaultCACertificates([...usual, cert.toString()]);
    const thread = await engineThread();
    const wire = wireTo(`https://localhost:${thread.port}`, STILL);
    open.push({ close: () => wire.destroy() });
    for (let call = 0; call < 6; call++) {
      // In the check phase, in which calls from the queue start.
      await new Promise((resolve) => setImmediate(resolve));
      const made = make(wire);
      // The first still has to connect. For the others the answer arrives before our socket reports that the request was sent.
      if (call > 0) thread.answered(call + 1);
      expect(await made.result).toBe('200 1');
      await rested();
    }
  });

  test('that answers before it has the whole request gets its connection closed, and the answer is not used', async () => {
    setDefaultCACertificates([...usual, cert.toString()]);
    const { engine, wire } = await scene('localhost');
    const made = make(wire, { body: 'x'.repeat(16 << 20) });
    await engine.until(() => engine.connections.length === 1);
    const { socket } = engine.connections[0]!;
    socket.pause().write(lengthAnswer('enough'));
    expect(await made.result).toBe('unasked');
    socket.resume();
    await engine.until(() => engine.open === 0);
    expect(engine.connections[0]!.requests).toBe(0);
  });

  test.each([
    ['is not trusted', 'localhost', false],
    ['is for another name', '127.0.0.1', true],
  ])('whose certificate %s is a failed connection, and gets no request', async (_name, host, trusted) => {
    if (trusted) setDefaultCACertificates([...usual, cert.toString()]);
    const { engine, wire } = await scene(host);
    expect(await make(wire).result).toBe('connect');
    expect(engine.connections.map(({ received }) => received).join('')).toBe('');
  });

  test('without TLS is a failed connection', async () => {
    const engine = await new RawEngine().listen();
    const wire = wireTo(`https://localhost:${engine.port}`);
    open.push(engine, { close: () => wire.destroy() });
    const made = make(wire);
    await engine.until(() => engine.connections.length === 1);
    engine.connections[0]!.socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    expect(await made.result).toBe('connect');
  });

  test('can be given up during the handshake', async () => {
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
