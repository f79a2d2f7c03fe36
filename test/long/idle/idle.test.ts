// Idle connections: open for the announced time, and a caller who respects the hint loses no request, whatever the pause was.
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startScriptedEngine } from '../../../src/testing.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { startGateway } from '../../support/gateway.ts';
import type { TestGateway } from '../../support/gateway.ts';
import { RawConnection, requestBytes } from '../../support/raw-http.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { watchStalls } from '../../evidence/faults/stall.ts';

/** As installed. */
const IDLE_SECONDS = 8;
/** Around the end of an idle connection; callers that respect the hint close it a second earlier. */
const HEEDED_PAUSES_MS = Array.from({ length: 80 }, (_, i) => 5000 + 100 * i);
const LETS_GO_MS = 7000;
/** Connections whose end is waited for, opened at intervals that hit the timers' steps at every phase. */
const STAGGER_MS = [0, 700, 1400, 2100, 2800, 3500];
/** A timer may be delayed this much by its steps and a busy machine. */
const DELAY_SECONDS = 6;

interface Heeded {
  readonly pauseMs: number;
  readonly outcome: number | string;
  readonly reused: boolean;
}

let folder: string;
let engine: ScriptedEngine;
const gateways: TestGateway[] = [];
/** For a caller who respects the hint: the result of the second request, and whether it used the first one's connection. */
const heeded = new Map<string, readonly Heeded[]>();
/** How long each connection stayed open after its answer, in seconds. */
const retained = new Map<string, readonly number[]>();

/** For how long this process, which is both ends of every connection, stood still: either end may have noticed this much later. */
let stalledMs: number;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-idle-'));
  engine = await startScriptedEngine();
  const stalls = watchStalls();
  // Everything only waits: all at once.
  await Promise.all(
    LISTENERS.map(async (listener) => {
      const gateway = await startGateway({ listener, store: `sqlite:${folder}/${listener}.db`, engineUrls: [engine.url] });
      gateways.push(gateway);
      const [ends, pauses] = await Promise.all([openFor(gateway.port), Promise.all(HEEDED_PAUSES_MS.map((ms) => heeds(gateway.port, ms)))]);
      retained.set(listener, ends);
      heeded.set(listener, pauses);
    }),
  );
  stalledMs = stalls.longestMs();
  stalls.stop();
});

afterAll(async () => {
  await Promise.all(gateways.map((gateway) => gateway.stop()));
  await engine.close();
  await rm(folder, { recursive: true, force: true });
});

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

function openFor(port: number): Promise<number[]> {
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

describe.each(LISTENERS)('the %s listener', (listener) => {
  test('keeps an idle connection for the announced seconds, and not much longer', () => {
    for (const seconds of retained.get(listener)!) {
      expect(seconds).toBeGreaterThan(IDLE_SECONDS - 0.1 - stalledMs / 1000);
      expect(seconds).toBeLessThan(IDLE_SECONDS + DELAY_SECONDS + stalledMs / 1000);
    }
  });

  test('answers every request of a caller who respects the hint, whatever the pause was', () => {
    const pauses = heeded.get(listener)!;
    expect(pauses.filter(({ outcome }) => outcome !== 404)).toEqual([]);
    // Open while it is safe, and no longer.
    expect(pauses.filter(({ pauseMs, reused }) => pauseMs < LETS_GO_MS - 500 - stalledMs && !reused)).toEqual([]);
    expect(pauses.filter(({ pauseMs, reused }) => pauseMs > LETS_GO_MS + 500 + stalledMs && reused)).toEqual([]);
  });
});
