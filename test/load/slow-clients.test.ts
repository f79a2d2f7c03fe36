// Row 18: callers who drip their header or body, send nothing, or never read: all are disconnected in time, and nobody else notices them.
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { performance } from 'node:perf_hooks';
import { describe, expect, test } from 'vitest';
import { report } from '../evidence/scorecard/report.ts';
import { RUN_MS_MAX, sized } from '../evidence/scorecard/size.ts';
import { answer, slow } from '../../src/testing.ts';
import { act } from '../support/door/contracts.ts';
import type { ScriptedRequest } from '../../src/testing/scripted-engine.ts';
import { closedLoop, times } from '../evidence/faults/pace.ts';
import { INSPECTABLE, inspect } from '../evidence/load/inspected.ts';
import { startLoadedGateway } from '../evidence/load/loaded-gateway.ts';
import type { LoadedGateway } from '../evidence/load/loaded-gateway.ts';
import { countBy, openLoop, quantile } from '../evidence/load/open-loop.ts';
import { LISTENERS } from '../support/listeners.ts';

const ENGINE_MS = 50;
const GONE_MS_MAX = 15_000;
const UNREAD_MARK = 'never-read';
/** More than the system's buffers hold; the gateway holds the rest until it drops such a caller. */
const UNREAD_BYTES = 7_000_000;
const UNREAD_BODY = JSON.stringify({ text: [UNREAD_MARK], target_lang: 'DE' });
const WAVE = 50;
const MIB = 1024 * 1024;
/**
 * Of an unread answer, what exceeds the system's buffers (29 of 53 MB) is in the gateway, or all of it on `node`; besides it
 * there are the connections themselves. This is measured after a collection.
 */
const HELD_BESIDE_MIB_MAX = 30;
/**
 * Until V8 collects, everything an answer was made from is in memory as well: the engine's bytes, their text, the parsed text, the
 * same as JSON, and concatenated with its surroundings.
 */
const COPIES_MAX = 5;
/**
 * Memory of this size or more returns to the system as soon as it is free. Without this setting glibc raises its own threshold to the
 * largest piece that was ever freed, and keeps up to 90 MB between pieces in use: this fragmentation is not judged here.
 */
const MALLOC = { MALLOC_MMAP_THRESHOLD_: '1048576' };

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

  /** The baseline for the others: it discards the answer as it arrives, and is not one of them. */
  async reader(): Promise<void> {
    const socket = connect({ port: this.#port, host: '127.0.0.1' }).resume();
    socket.write(this.#head(UNREAD_BODY.length, 'Connection: close\r\n') + UNREAD_BODY);
    await once(socket, 'close');
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    for (const { socket } of this.all) socket.destroy();
  }

  #head(bodyBytes: number, more = ''): string {
    return `POST /v1/translate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer ${this.#key}\r\nContent-Length: ${bodyBytes}\r\n${more}\r\n`;
  }

  #open(kind: string, first: string): SlowCaller {
    const startedAtMs = performance.now();
    const socket = connect({ port: this.#port, host: '127.0.0.1' });
    const caller: SlowCaller = { kind, socket, goneAfterMs: undefined };
    const gone = (): void => void (caller.goneAfterMs ??= performance.now() - startedAtMs);
    socket.on('connect', () => socket.write(first));
    // Answers are not checked.
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

/** In waves that the listener's queue can hold: the gateway could not disconnect a caller whom the system dropped there. */
async function openAll(site: LoadedGateway, callers: SlowCallers, count: number, unread: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    callers.idle();
    callers.header();
    callers.body();
    if (i % WAVE === 0) await expect.poll(() => site.connections()).toBe(callers.all.length);
  }
  for (let i = 0; i < unread; i++) callers.nonReader();
  await expect.poll(() => site.connections()).toBe(callers.all.length);
}

describe.each(LISTENERS)('slow callers on the %s listener', (listener) => {
  test(
    'are disconnected in time, hold no more memory than allowed, and good callers do not notice them',
    { timeout: RUN_MS_MAX },
    async () => {
      const limits = { request_seconds: 10, reservation_seconds: 10 };
      const site = await startLoadedGateway({
        store: 'sqlite',
        config: { listener, limits, engine: { timeout_ms: 2000 } },
        nodeOptions: INSPECTABLE,
        env: MALLOC,
      });
      const inspector = await inspect(site.process);
      const team = await site.team();
      const [count, unread, perSecond] = [sized(80, 650), sized(2, 8), sized(40, 200)];
      site.engine.always(twoFaced);
      const slowCallers = new SlowCallers(site.port, (await site.team()).key);
      try {
        const good = (seconds: number) => openLoop({ port: site.port, key: team.key, perSecond, seconds });
        // As many long answers as later, to callers who do read them: their cost must not be counted.
        const readLong = () => slowCallers.reader();
        await Promise.all([good(2), closedLoop(times(2 * unread), unread, readLong)]);
        const [before] = await Promise.all([good(8), closedLoop(times(unread), unread, readLong)]);
        await expect.poll(() => site.connections()).toBe(0);
        await inspector.look();
        const residentBefore = await site.residentBytes();
        const answered = await site.metric('lingate_engine_attempts_total');
        let residentMax = 0;
        const watch = setInterval(() => void site.residentBytes().then((now) => (residentMax = Math.max(residentMax, now))), 250);
        await openAll(site, slowCallers, count, unread);
        await expect.poll(() => site.metric('lingate_engine_attempts_total')).toBe(answered + unread);
        await inspector.look();
        const heldMib = ((await site.residentBytes()) - residentBefore) / MIB;
        const openedAtMs = performance.now();
        const beside = await good(8);
        const dripping = slowCallers.all.filter(({ kind }) => kind !== 'unread');
        await expect.poll(() => dripping.filter(({ goneAfterMs }) => goneAfterMs === undefined).length, { timeout: GONE_MS_MAX }).toBe(0);
        // A paused socket does not report that the other side closed: the gateway's own side does.
        await expect.poll(() => site.connections(), { timeout: GONE_MS_MAX }).toBe(0);
        const unreadMs = performance.now() - openedAtMs;
        clearInterval(watch);
        const slowest = Math.max(unreadMs, ...dripping.map(({ goneAfterMs }) => goneAfterMs!));
        const ratio = quantile(beside, 0.99) / quantile(before, 0.99);
        const grownMib = (residentMax - residentBefore) / MIB;
        const unreadMib = (unread * UNREAD_BYTES) / MIB;
        const heldMibMax = unreadMib + HELD_BESIDE_MIB_MAX;
        const grownMibMax = heldMibMax + COPIES_MAX * unreadMib;
        report({
          row: 18,
          figure: `slow clients, ${listener} listener`,
          measured: `${slowCallers.all.length} slow connections (${unread} of them never read ${UNREAD_BYTES} bytes): the last gone after ${(slowest / 1000).toFixed(1)} s; p99 of ${beside.length} good requests ${ratio.toFixed(2)} times the baseline, which had callers who read such answers; +${heldMib.toFixed(0)} MB held for ${unreadMib.toFixed(0)} MB of answers that nobody reads (after a forced collection, malloc threshold fixed), +${grownMib.toFixed(0)} at most before V8 collects what they were made from`,
          met: ratio <= 2 && slowest <= GONE_MS_MAX && heldMib <= heldMibMax && grownMib <= grownMibMax,
          counts: { faults: slowCallers.all.length },
        });
        expect(slowest).toBeLessThanOrEqual(GONE_MS_MAX);
        expect(countBy(beside)).toEqual({ '200 ok': beside.length });
        expect(quantile(beside, 0.9)).toBeLessThanOrEqual(2 * quantile(before, 0.99));
        expect(heldMib).toBeLessThanOrEqual(heldMibMax);
        expect(grownMib).toBeLessThanOrEqual(grownMibMax);
        expect(await site.metric('lingate_requests_in_flight')).toBe(0);
      } finally {
        slowCallers.stop();
        inspector.close();
        await site.stop();
      }
    },
  );
});
