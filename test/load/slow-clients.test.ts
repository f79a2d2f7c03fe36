// Row 18: callers who drip their header or body, say nothing, or never read: all are gone in time, and nobody else notices them.
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { report } from '../scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../scorecard/size.ts';
import { answer, slow } from '../support/scripted-engine.ts';
import type { ScriptedRequest } from '../support/scripted-engine.ts';
import { act } from '../support/scripted-behaviours.ts';
import { startLoadedGateway } from './loaded-gateway.ts';
import type { LoadedGateway } from './loaded-gateway.ts';
import { countBy, openLoop, quantile } from './open-loop.ts';

const ENGINE_MS = 50;
const GONE_MS_MAX = 15_000;
/** A caller who never reads holds an answer until the write timer has run out. */
const UNREAD_GONE_MS_MAX = 30_000;
const UNREAD_MARK = 'never-read';
/** More than the system's buffers take in. */
const UNREAD_BYTES = 7_000_000;
const UNREAD_BODY = JSON.stringify({ text: [UNREAD_MARK], target_lang: 'DE' });
const MIB = 1024 * 1024;

interface SlowCaller {
  readonly kind: string;
  readonly socket: Socket;
  /** Milliseconds after its start; `undefined` while it is connected. */
  goneAfterMs: number | undefined;
}

class SlowCallers {
  readonly #port: number;
  readonly #key: string;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly all: SlowCaller[] = [];

  constructor(port: number, key: string) {
    this.#port = port;
    this.#key = key;
  }

  idle(): void {
    this.#open('idle', '');
  }

  header(): void {
    const { socket } = this.#open('header', 'POST /v1/translate HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    this.#every(socket, 500, 'x');
  }

  body(): void {
    const { socket } = this.#open('body', this.#head(10_000));
    this.#every(socket, 500, 'x');
  }

  nonReader(): void {
    const { socket } = this.#open('unread', this.#head(UNREAD_BODY.length) + UNREAD_BODY);
    socket.pause();
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const { socket } of this.all) socket.destroy();
  }

  #head(bodyBytes: number): string {
    return `POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${this.#key}\r\nContent-Length: ${bodyBytes}\r\n\r\n`;
  }

  #open(kind: string, first: string): SlowCaller {
    const startedAtMs = performance.now();
    const socket = connect({ port: this.#port, host: '127.0.0.1' });
    const caller: SlowCaller = { kind, socket, goneAfterMs: undefined };
    const gone = (): void => void (caller.goneAfterMs ??= performance.now() - startedAtMs);
    socket.on('connect', () => socket.write(first));
    // Whatever is answered is not looked at.
    if (kind !== 'unread') socket.resume();
    socket.on('end', gone).on('error', gone).on('close', gone);
    this.all.push(caller);
    return caller;
  }

  #every(socket: Socket, everyMs: number, bytes: string): void {
    this.#timers.push(setInterval(() => socket.writable && socket.write(bytes), everyMs));
  }
}

/** Long answers for callers who will not read them, a slow engine for all others. */
function twoFaced(request: ScriptedRequest, response: Parameters<ReturnType<typeof answer>>[1]): void {
  if (!request.body.includes(UNREAD_MARK)) return act(slow(ENGINE_MS), request, response, response.socket!);
  answer(JSON.stringify({ translations: [{ text: 'x'.repeat(UNREAD_BYTES) }] }))(request, response);
}

async function connectionsOf(house: LoadedGateway, before: number): Promise<number> {
  return (await house.descriptors()) - before;
}

describe.each(['uws', 'node'] as const)('slow callers on the %s listener', (listener) => {
  test('are gone in time, hold no more memory than they may, and good callers do not notice them', { timeout: RUN_MS_MAX }, async () => {
    const limits = { request_seconds: 10, reservation_seconds: 10 };
    const house = await startLoadedGateway({ store: 'sqlite', config: { listener, limits, engine: { timeout_ms: 2000 } } });
    const team = await house.team();
    const [count, unread, perSecond] = [sized(80, 650), sized(2, 8), sized(40, 200)];
    house.engine.always(twoFaced);
    const slowCallers = new SlowCallers(house.port, (await house.team()).key);
    try {
      // The same long answers as later, to callers who do read them: what they cost is not the fault of those who do not.
      const [before] = await Promise.all([
        openLoop({ port: house.port, key: team.key, perSecond, seconds: 3 }),
        openLoop({ port: house.port, key: team.key, perSecond: 2 * unread, seconds: 0.5, body: UNREAD_BODY }),
      ]);
      const [residentBefore, descriptorsBefore] = [await house.residentBytes(), await house.descriptors()];
      for (let i = 0; i < count; i++) {
        slowCallers.idle();
        slowCallers.header();
        slowCallers.body();
      }
      for (let i = 0; i < unread; i++) slowCallers.nonReader();
      let residentMax = 0;
      const watch = setInterval(() => void house.residentBytes().then((now) => (residentMax = Math.max(residentMax, now))), 250);
      const beside = await openLoop({ port: house.port, key: team.key, perSecond, seconds: 8 });
      const dripping = slowCallers.all.filter(({ kind }) => kind !== 'unread');
      await expect.poll(() => dripping.filter(({ goneAfterMs }) => goneAfterMs === undefined).length, { timeout: GONE_MS_MAX }).toBe(0);
      // A paused socket does not tell its caller that the other side is gone: the gateway's own descriptors do.
      await expect.poll(() => connectionsOf(house, descriptorsBefore), { timeout: UNREAD_GONE_MS_MAX }).toBeLessThanOrEqual(1);
      clearInterval(watch);
      const slowest = Math.max(...dripping.map(({ goneAfterMs }) => goneAfterMs!));
      const ratio = quantile(beside, 0.99) / quantile(before, 0.99);
      const grownMib = (residentMax - residentBefore) / MIB;
      report({
        row: 18,
        figure: `slow clients, ${listener} listener`,
        measured: `${slowCallers.all.length} slow connections (${unread} of them never read ${UNREAD_BYTES} bytes): the last drip gone after ${(slowest / 1000).toFixed(1)} s; p99 of ${beside.length} good requests ${ratio.toFixed(2)} times the baseline; RSS +${grownMib.toFixed(0)} MB`,
        met: ratio <= 2,
        counts: { faults: slowCallers.all.length },
      });
      expect(slowest).toBeLessThanOrEqual(GONE_MS_MAX);
      expect(countBy(beside)).toEqual({ '200 ok': beside.length });
      expect(quantile(beside, 0.9)).toBeLessThanOrEqual(2 * quantile(before, 0.99));
      expect(grownMib).toBeLessThanOrEqual(100);
      expect(await house.metric('lingate_requests_in_flight')).toBe(0);
    } finally {
      slowCallers.stop();
      await house.stop();
    }
  });
});
