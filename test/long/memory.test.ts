// Long bodies and slow readers on forward routes: every byte arrives, and the gateway's memory does not grow with them.
import { readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { request as httpRequest } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { afterAll, describe, expect, test } from 'vitest';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { openSite } from '../support/site.ts';
import type { Site } from '../support/site.ts';
import { startUpstream } from '../support/upstream.ts';

const MIB = 1_048_576;
const BYTES = 20_000_000;
const BODY_BYTES_MAX = 33_554_432;
const EXTRA_BYTES_MAX = 64 * MIB;
const READ_BYTES_PER_SECOND = 10_000;
/** Longer than a listener's timers. */
const READ_MS = 13_000;
const MANY = 50;

const upstream = await startUpstream();
afterAll(() => upstream.close());

describe('a forward route', () => {
  test('a reader of 10 KB/s is served to the end, delays nobody, and costs no memory', async () => {
    const { site, gateway, close } = await started();
    await download(gateway, site, 'bytes', 1000);
    const [before, openBefore] = [residentBytes(gateway), descriptors(gateway)];
    const readers = ['bytes', 'chunked'].map((framing) => slowReader(gateway, site, `/v1/files/${framing}/${2 * BYTES}`));
    const untilMs = Date.now() + READ_MS;
    let asked = 0;
    while (Date.now() < untilMs || asked < MANY) {
      expect((await download(gateway, site, 'bytes', 1000)).byteLength).toBe(1000);
      asked++;
      await new Promise((resolve) => setTimeout(resolve, READ_MS / MANY));
    }
    for (const reader of readers) {
      expect(reader.ended()).toBe(false);
      expect(reader.bytes()).toBeGreaterThan((READ_BYTES_PER_SECOND * READ_MS) / 1000 / 2);
    }
    expect(peakBytes(gateway) - before).toBeLessThan(EXTRA_BYTES_MAX);
    for (const reader of readers) reader.leave();
    await expect.poll(() => descriptors(gateway)).toBeLessThanOrEqual(openBefore + 5);
    await close();
  });
});

async function started(): Promise<{ site: Site; gateway: GatewayProcess; close: () => Promise<void> }> {
  const site = await openSite();
  const forward = [
    { path: '/v1/files/*', methods: ['GET', 'POST'], target: upstream.url, body_bytes: BODY_BYTES_MAX, charge_characters: 1 },
  ];
  const limits = { body_bytes: BODY_BYTES_MAX };
  await site.configure({ engine: { urls: [site.engine.url] }, forward, limits });
  const gateway = await site.serve();
  return {
    site,
    gateway,
    async close() {
      await gateway.end('SIGTERM');
      await site.close();
    },
  };
}

async function download(gateway: GatewayProcess, site: Site, framing: string, bytes: number): Promise<Uint8Array> {
  const { port } = new URL(gateway.url);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const path = `/v1/files/${framing}/${bytes}`;
    httpRequest({ port, path, headers: { authorization: `Bearer ${site.team.key}` }, agent: false }, resolve)
      .on('error', reject)
      .end();
  });
  expect(response.statusCode).toBe(200);
  return Buffer.concat(await response.toArray());
}

/** Reads this much a second and no more. */
function slowReader(gateway: GatewayProcess, site: Site, path: string): { bytes: () => number; ended: () => boolean; leave: () => void } {
  const socket = connect({ port: Number(new URL(gateway.url).port), host: '127.0.0.1' });
  let [bytes, ended] = [0, false];
  socket.on('error', () => undefined);
  socket.on('close', () => (ended = true));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${site.team.key}\r\n\r\n`);
  socket.pause();
  const timer = setInterval(() => {
    const piece = socket.read(READ_BYTES_PER_SECOND / 10) as Buffer | null;
    if (piece !== null) bytes += piece.byteLength;
  }, 100);
  return {
    bytes: () => bytes,
    ended: () => ended,
    leave() {
      clearInterval(timer);
      socket.destroy();
    },
  };
}

function residentBytes({ process: { pid } }: GatewayProcess): number {
  return kilobytes(pid!, 'VmRSS') * 1024;
}

function peakBytes({ process: { pid } }: GatewayProcess): number {
  return kilobytes(pid!, 'VmHWM') * 1024;
}

function kilobytes(pid: number, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}

function descriptors({ process: { pid } }: GatewayProcess): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}
