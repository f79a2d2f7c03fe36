// Idle connections: kept for the configured time, and no front proxy loses a request on a kept connection, whatever the pause was.
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import type { Front, FrontKind } from '../../support/front-proxy.ts';
import { QUOTA_PLAN, startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { RawConnection, request, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS, UWS_COLUMN } from '../../support/listeners.ts';
import { watchStalls } from '../../evidence/faults/stall.ts';
import { startPools } from './pools.ts';

/** The possible settings of a listener: the older build of uWebSockets.js has only the default. */
const IDLE_SECONDS = { uws: UWS_COLUMN === 'older' ? [8] : [8, 75], node: [8, 75] } as const;
const FRONTS: readonly FrontKind[] = ['nginx', 'haproxy'];
/** From 5 to 15 seconds, in quarters: just before and just after the timers that end connections. */
const PAUSES_MS = Array.from({ length: 41 }, (_, i) => 5000 + 250 * i);
/** Around the end of an idle connection; callers that respect the hint close it a second earlier. */
const HEEDED_PAUSES_MS = Array.from({ length: 80 }, (_, i) => 5000 + 100 * i);
const LETS_GO_MS = 7000;
/** Connections whose end is waited for, opened at intervals that hit the timers' steps at every phase. */
const STAGGER_MS = [0, 700, 1400, 2100, 2800, 3500];
/** A timer may be this late, due to its steps and a busy machine. */
const LATE_SECONDS = 6;

const SITES = LISTENERS.flatMap((listener) => IDLE_SECONDS[listener].map((idleSeconds) => ({ listener, idleSeconds })));
type SiteKind = (typeof SITES)[number];
/** As installed. */
const DEFAULTS = SITES.filter(({ idleSeconds }) => idleSeconds === 8);
const WAYS = SITES.flatMap((site) => FRONTS.map((front) => ({ ...site, front })));

interface Result {
  /** Answers that were not 200, by pause. */
  readonly failed: readonly string[];
  /** Connections of the first requests that carried a second one. */
  readonly reused: number;
}

interface Heeded {
  readonly pauseMs: number;
  readonly outcome: number | string;
  readonly reused: boolean;
}

let folder: string;
let engine: ScriptedEngine;
const gateways: TestGateway[] = [];
const fronts: Front[] = [];
const results = new Map<string, Result>();
/** For a caller who respects the hint: the result of the second request, and whether it used the first one's connection. */
const heeded = new Map<string, readonly Heeded[]>();
/** How long each connection was kept after its answer, in seconds. */
const kept = new Map<string, readonly number[]>();

/** For how long this process, which is both ends of every connection, stood still: either end may have noticed this much later. */
let stalledMs: number;

const nameOf = (way: object): string => Object.values(way).join('-');

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-idle-'));
  engine = await startScriptedEngine();
  const stalls = watchStalls();
  // Everything only waits: all at once.
  await Promise.all([
    ...WAYS.map(async (way) => void results.set(nameOf(way), await pauseBehind(way))),
    ...DEFAULTS.map(async (site) => {
      const { gateway } = await startSite(site, nameOf(site));
      const [ends, pauses] = await Promise.all([keptFor(gateway.port), Promise.all(HEEDED_PAUSES_MS.map((ms) => heeds(gateway.port, ms)))]);
      kept.set(nameOf(site), ends);
      heeded.set(nameOf(site), pauses);
    }),
  ]);
  stalledMs = stalls.longestMs();
  stalls.stop();
});

afterAll(async () => {
  await Promise.all(fronts.map((front) => front.stop()));
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

/** As the operator sets it, with a team. */
async function startSite(
  { listener, idleSeconds }: SiteKind,
  name: string,
): Promise<{ readonly gateway: TestGateway; readonly key: string }> {
  // On a busy machine neither disk nor engine must look like a failure.
  const config = { store_options: { command_timeout_ms: 5000 }, engine: { timeout_ms: 29_000 }, limits: { idle_seconds: idleSeconds } };
  const gateway = await startGateway({ listener, store: `sqlite:${folder}/${name}.db`, engineUrls: [engine.url], config });
  gateways.push(gateway);
  const { key } = await gateway.team({ ...QUOTA_PLAN, requests_per_second: 10_000 });
  return { gateway, key };
}

/** A gateway of its own, so that its connections are this front's. */
async function pauseBehind(way: (typeof WAYS)[number]): Promise<Result> {
  const { gateway, key } = await startSite(way, nameOf(way));
  const front = await startPools(way.front, PAUSES_MS.length, gateway.port, way.idleSeconds);
  fronts.push(front);
  const failed: string[] = [];
  const ask = async (pool: number, what: string): Promise<void> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ text: ['pause'], target_lang: 'DE' });
    const { status } = await request({ port: front.port, method: 'POST', path: `/p${pool}/v1/translate`, headers, body });
    if (status !== 200) failed.push(`${what}: ${status}`);
  };
  await Promise.all(PAUSES_MS.map((_, pool) => ask(pool, 'first')));
  const first = connectionsTo(gateway.port);
  await Promise.all(
    PAUSES_MS.map(async (pauseMs, pool) => {
      await delay(pauseMs);
      await ask(pool, `after ${pauseMs} ms`);
    }),
  );
  const last = connectionsTo(gateway.port);
  return { failed, reused: [...last].filter((port) => first.has(port)).length };
}

/** The other ends of a server's established connections, by their ports. */
function connectionsTo(port: number): Set<number> {
  const [, ...lines] = readFileSync('/proc/net/tcp', 'utf8').trim().split('\n');
  const portOf = (address = ''): number => Number.parseInt(address.split(':')[1]!, 16);
  const rows = lines.map((line) => line.trim().split(/\s+/));
  return new Set(rows.filter(([, local, , state]) => state === '01' && portOf(local) === port).map(([, , remote]) => portOf(remote)));
}

/** Node's own client, which closes idle connections before the server does, as `Keep-Alive` tells it. */
async function heeds(port: number, afterMs: number): Promise<Heeded> {
  // It respects the hint only with a timeout of its own.
  const agent = new Agent({ keepAlive: true, timeout: 60_000 });
  // The answer must not depend on the store, whose probe may be overdue on a busy machine.
  const ask = (): Promise<Omit<Heeded, 'pauseMs'>> =>
    new Promise((resolve) => {
      const asked = get({ agent, host: '127.0.0.1', port, path: '/nowhere' }, (response) => {
        response.resume();
        response.on('end', () => resolve({ outcome: response.statusCode!, reused: asked.reusedSocket }));
      });
      asked.on('error', (error) => resolve({ outcome: error.message, reused: asked.reusedSocket }));
    });
  await ask();
  const answeredAtMs = performance.now();
  await delay(afterMs);
  const pauseMs = performance.now() - answeredAtMs;
  const second = await ask();
  agent.destroy();
  return { pauseMs, ...second };
}

function keptFor(port: number): Promise<number[]> {
  return Promise.all(
    STAGGER_MS.map(async (afterMs) => {
      await delay(afterMs);
      const connection = await RawConnection.open({ port });
      connection.send(requestBytes({ path: '/health' }));
      await connection.response();
      const answeredAtMs = performance.now();
      await connection.ended;
      connection.destroy();
      return (performance.now() - answeredAtMs) / 1000;
    }),
  );
}

describe.each(DEFAULTS)('the $listener listener, by default', (site) => {
  test('keeps an idle connection for the announced seconds, and not much longer', () => {
    for (const seconds of kept.get(nameOf(site))!) {
      expect(seconds).toBeGreaterThan(site.idleSeconds - 0.1 - stalledMs / 1000);
      expect(seconds).toBeLessThan(site.idleSeconds + LATE_SECONDS + stalledMs / 1000);
    }
  });
});

describe.each(DEFAULTS)('a caller who respects the hint of the $listener listener', (site) => {
  test('gets an answer to every request, whatever the pause was', () => {
    const pauses = heeded.get(nameOf(site))!;
    expect(pauses.filter(({ outcome }) => outcome !== 404)).toEqual([]);
    // Kept while it is safe, and no longer.
    expect(pauses.filter(({ pauseMs, reused }) => pauseMs < LETS_GO_MS - 500 - stalledMs && !reused)).toEqual([]);
    expect(pauses.filter(({ pauseMs, reused }) => pauseMs > LETS_GO_MS + 500 + stalledMs && reused)).toEqual([]);
  });
});

describe.each(WAYS)('$front before the $listener listener, idle_seconds $idleSeconds', (way) => {
  test(`no request fails, after any pause from ${PAUSES_MS[0]! / 1000} to ${PAUSES_MS.at(-1)! / 1000} seconds`, () => {
    expect(results.get(nameOf(way))!.failed).toEqual([]);
  });
});

// HAProxy closes unused connections by itself.
describe.each(WAYS.filter(({ front, idleSeconds }) => front === 'nginx' && idleSeconds === 75))('$front before $listener', (way) => {
  test('every connection outlives its pause', () => {
    expect(results.get(nameOf(way))!.reused).toBe(PAUSES_MS.length);
  });
});
