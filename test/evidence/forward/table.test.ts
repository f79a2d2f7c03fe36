// Raw requests to forward routes: the upstream only gets requests that were sent through a route, with listed fields only.
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TestGateway } from '../../support/gateway.ts';
import { startedUntil } from '../../support/started.ts';
import { startUpstream } from '../../support/upstream.ts';
import type { SeenRequest, TestUpstream } from '../../support/upstream.ts';
import { FORWARD_CASES } from './cases.ts';
import type { ForwardCase } from './cases.ts';

/** How long a connection that stays open may take to send more, or anything if nobody knows whether it will. */
const PATIENCE_MS = 1_500;
/** An answer that is certain is waited for, however busy the machine is. */
const ANSWER_MS_MAX = 30_000;
const STATUS = /^HTTP\/1\.1 (?:100 [^\r]*\r\n\r\nHTTP\/1\.1 )?((?!100)\d{3})/;
const AT_ONCE = 25;
const MAY_GO_UP = new Set(
  'host connection content-length transfer-encoding accept-encoding content-type x-kind x-request-id x-fixed'.split(' '),
);

interface Said {
  /** Of the first answer; 0 if there was none. */
  readonly status: number;
  readonly bytes: string;
}

test('the table has at least 80 cases', () => {
  expect(FORWARD_CASES.length).toBeGreaterThanOrEqual(80);
  expect(new Set(FORWARD_CASES.map(({ name }) => name)).size).toBe(FORWARD_CASES.length);
});

describe('a gateway', () => {
  const started = startedUntil(afterAll);
  let upstream: TestUpstream;
  let gateway: TestGateway;
  let said: readonly Said[];

  beforeAll(async () => {
    upstream = await startUpstream();
    started.closes(() => upstream.close());
    const forward = [
      { path: '/v1/voices', methods: ['GET'], target: upstream.url },
      {
        path: '/v1/documents/*',
        methods: ['GET', 'POST', 'DELETE', 'OPTIONS'],
        target: upstream.url,
        request_fields: ['content-type', 'x-kind'],
        headers: { 'x-fixed': 'yes' },
      },
    ];
    gateway = await started.gateway({ engineUrls: ['http://127.0.0.1:9'], config: { forward } });
    const { key } = await gateway.team();
    const all: Said[] = [];
    for (let at = 0; at < FORWARD_CASES.length; at += AT_ONCE) {
      const group = FORWARD_CASES.slice(at, at + AT_ONCE);
      all.push(...(await Promise.all(group.map((one, i) => play(gateway.port, bytesOf(one, at + i, key), one.expect !== 'contained')))));
    }
    said = all;
  });

  const seenOf = (index: number): SeenRequest[] => upstream.seen.filter(({ target }) => target.includes(idOf(index)));

  test.each(FORWARD_CASES.map((one, index) => [one.name, one, index] as const))('%s', (_name, one, index) => {
    const { status, bytes } = said[index]!;
    const seen = seenOf(index);
    if (one.expect === 'passes') {
      expect([status, seen.map(({ target }) => target)]).toEqual([200, [one.target!.replaceAll('ID', idOf(index))]]);
    } else if (one.expect === 'contained') {
      // The request at the front may have been sent up, once; and is answered once.
      expect(seen.length).toBeLessThanOrEqual(1);
    } else {
      expect([status, seen]).toEqual([one.expect, []]);
    }
    expect(bytes).not.toContain('canary');
  });

  test('the upstream got only requests sent through a route, framed by us, with the listed fields', () => {
    expect(upstream.broken).toEqual([]);
    for (const request of upstream.seen) {
      expect(request.target).toMatch(/^\/v1\/(?:voices$|documents(?:[/?]|$))/);
      const names = request.fields.map(([name]) => name.toLowerCase());
      expect(names.filter((name) => !MAY_GO_UP.has(name))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      expect(names.filter((name) => name === 'content-length' || name === 'transfer-encoding').length).toBeLessThanOrEqual(1);
      expect(request.fields.find(([name]) => name.toLowerCase() === 'host')![1]).toBe(new URL(upstream.url).host);
      expect(request.fields.find(([name]) => name.toLowerCase() === 'x-request-id')![1]).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    }
  });

  test('no request was made out of the body of another', () => {
    // The only ones of this name are those that follow another one, as requests of their own.
    const behind = FORWARD_CASES.filter(({ bytes, expect: what }) => bytes.includes('SMUGGLED') && what !== 'contained');
    expect(behind.length).toBeGreaterThan(0);
    const made = upstream.seen.filter(({ target }) => target.includes('SMUGGLED'));
    // A request pipelined after a whole one is served.
    expect(made.length).toBeLessThanOrEqual(PIPELINED);
  });

  test('no bug was logged, and the gateway keeps serving', async () => {
    expect(gateway.logLines.filter((line) => line.includes('"a bug"'))).toEqual([]);
    expect((await play(gateway.port, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n')).status).toBe(200);
  });
});

/** Whole requests after a whole one with a length: pipelined, and so requests like any other. */
const PIPELINED = 1;

function idOf(index: number): string {
  return `c${String(index).padStart(4, '0')}z`;
}

function bytesOf({ bytes }: ForwardCase, index: number, key: string): string {
  // Lengths were counted with the word that stands for a key.
  return bytes.replaceAll('ID', idOf(index)).replaceAll('KEY', key);
}

/** Sends all of it on a connection of its own; returns everything until the connection ends, or nothing more is expected. */
function play(port: number, bytes: string, isCertain = true): Promise<Said> {
  return new Promise((resolve) => {
    let received = '';
    const socket = connect({ port, host: '127.0.0.1', noDelay: true });
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve({ status: Number(STATUS.exec(received)?.[1] ?? 0), bytes: received });
    };
    let timer = setTimeout(end, isCertain ? ANSWER_MS_MAX : PATIENCE_MS);
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (!STATUS.test(received)) return;
      clearTimeout(timer);
      timer = setTimeout(end, PATIENCE_MS);
    });
    socket.on('error', () => undefined);
    socket.on('close', end);
    socket.write(Buffer.from(bytes, 'latin1'));
  });
}
