// The clocks of the masters as a gateway knows them: their offsets from its monotonic clock, which of them are right, and by how much
// functions correct one that is not. A correction, unlike a time, lets a call that was under way for too long still find that out.
import { agree, ClockJudge } from '../../domain/clock-judge.ts';
import type { ClockMark, ClockSource } from '../../domain/clock-judge.ts';
import type { Clock, ClockStep } from '../../ports/clock.ts';
import type { ClocksOfStore } from '../records/store-clock.ts';
import { mastersOf, nameOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';
import { CLOCK_KEY } from './redis-keys.ts';

interface ServerClocksOptions {
  /** Used instead of the servers' clocks, and never judged. */
  readonly clock?: Clock | undefined;
  /** In place of servers' clocks, for tests: judged like them. */
  readonly servers?: ClockSource | undefined;
}

interface ServerClock {
  readonly judge: ClockJudge;
  /** Whether a reply of the present connection has brought the time. */
  isKnown: boolean;
}

/**
 * A reply's time was read between sending and receiving, which bounds the offset. The lowest possible one is used, so that deadlines
 * are too early rather than too far away: a function must not be executed after its caller has given up. A function that finds the deadline in
 * the past, or more than an hour ahead, does nothing: so a step is noticed before it has any effect.
 */
export class ServerClocks {
  readonly #options: ServerClocksOptions;
  readonly #servers = new Map<string, ServerClock>();
  /** The offset of the store's time, by which servers are judged that are met: of the last one that was right. */
  #rightMs: number | undefined;

  constructor(options: ServerClocksOptions = {}) {
    this.#options = options;
  }

  /** Whether no server's clock counts. */
  get isGiven(): boolean {
    return this.#options.clock !== undefined || this.#options.servers !== undefined;
  }

  /** `nowMs` is a server's own time, the others are local. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    const { servers } = this.#options;
    // Simulated time passes only between calls.
    const lowest = nowMs - (servers?.monotonicMs() ?? receivedAtMs);
    // The server's time is rounded down to milliseconds.
    const highest = nowMs + 1 - (servers?.monotonicMs() ?? sentAtMs);
    const { judge, isKnown } = this.#servers.get(node) ?? { judge: new ClockJudge(this.#rightMs ?? lowest), isKnown: false };
    if (isKnown && judge.seenMs >= lowest && judge.seenMs <= highest) return;
    judge.look(lowest);
    this.#servers.set(node, { judge, isKnown: true });
    this.#count();
  }

  /** Once all masters have been asked: whatever their order, the one nearest to the latest time is believed, and those that agree with it. */
  begin({ latestMs, wrong }: ClockMark): void {
    const offsets = [...this.#servers.values()].map(({ judge }) => judge.seenMs);
    const latest = latestMs === undefined ? Math.min(...offsets) : latestMs - this.#monotonicMs();
    const [nearest] = offsets.toSorted((one, other) => Math.abs(one - latest) - Math.abs(other - latest));
    for (const [name, { judge: before }] of this.#servers) {
      const judge = new ClockJudge(nearest!);
      judge.look(before.seenMs);
      if (judge.stepMs === 0) judge.suspect(wrong, this.#monotonicMs());
      this.#servers.set(name, { judge, isKnown: true });
    }
    this.compare(latestMs);
  }

  /** Forgets the servers that are masters no more. */
  keep(masters: readonly string[]): void {
    for (const name of this.#servers.keys()) if (!masters.includes(name)) this.#servers.delete(name);
    this.#count();
  }

  /** Judges every server by the latest time that the store has seen. */
  compare(latestMs: number | undefined): void {
    for (const { judge } of this.#servers.values()) judge.compare(latestMs, this.#monotonicMs());
    this.#count();
  }

  /**
   * The time at a server, as functions there take it, at a local time. 0 as long as its clock is unknown: a function with that
   * deadline has no effect, and its reply brings the time.
   */
  at(node: string, localMs: number): number {
    const { clock, servers } = this.#options;
    if (clock !== undefined) return Math.floor(localMs + clock.nowMs() - performance.now());
    const known = this.#servers.get(node);
    if (known?.isKnown !== true) return 0;
    // Simulated time passes only between calls.
    const passedMs = servers === undefined ? localMs : servers.monotonicMs() + Math.round(localMs - performance.now());
    return Math.floor(passedMs + known.judge.offsetMs);
  }

  /** What a call says of the time: the one that tests control, or what its server's clock is corrected by, which is 0 while it is right. */
  clockFor(node: string): { readonly clock?: number; readonly correction?: number } {
    const { clock, servers } = this.#options;
    if (clock !== undefined) return { clock: clock.nowMs() };
    const known = this.#servers.get(node);
    const correction = known?.isKnown === true ? 0 - Math.ceil(known.judge.stepMs) : 0;
    return servers === undefined ? { correction } : { clock: servers.wallMs() + correction, correction };
  }

  /** The store's time that is believed, once a server was met. */
  nowMs(): number {
    return this.#options.clock?.nowMs() ?? Math.floor(this.#monotonicMs() + this.#rightMs!);
  }

  /** The same by a server's time that was just read, whatever was met. */
  believed(readMs: number): number {
    if (this.#rightMs === undefined) return readMs;
    const rightMs = this.nowMs();
    return agree(readMs, rightMs) ? readMs : rightMs;
  }

  /** The server whose clock is furthest from the time that is believed. */
  step(): ClockStep | undefined {
    let furthest: ClockStep | undefined;
    for (const [server, { judge }] of this.#servers) {
      const byMs = Math.round(judge.stepMs);
      if (Math.abs(byMs) > Math.abs(furthest?.byMs ?? 0)) furthest = { byMs, server: server === '' ? undefined : server };
    }
    return furthest;
  }

  /** What a server's clock says now is not known; it is judged by what was believed before. */
  forget(name: string): void {
    const server = this.#servers.get(name);
    if (server !== undefined) server.isKnown = false;
  }

  /** While every server is wrong, the time goes on from the latest that was believed. */
  #count(): void {
    const judges = [...this.#servers.values()].map(({ judge }) => judge);
    if (judges.length === 0) return;
    const right = judges.findLast(({ stepMs }) => stepMs === 0);
    this.#rightMs = right?.offsetMs ?? Math.max(...judges.map(({ offsetMs }) => offsetMs));
  }

  #monotonicMs(): number {
    return this.#options.servers?.monotonicMs() ?? performance.now();
  }
}

type Ask = <T>(command: (redis: RedisConnection) => Promise<T>) => Promise<T>;

/** Asks every master for its time. What the store knows of time is in a key of its own. */
export function clocksOfServers(ask: Ask, clocks: ServerClocks, servers?: ClockSource): ClocksOfStore {
  return {
    clocks,
    read: () =>
      ask(async (redis) => {
        const times = await Promise.all(
          mastersOf(redis).map(async (master) => {
            const server = 'slots' in redis ? nameOf(master) : '';
            const sentAtMs = performance.now();
            const nowMs = servers?.wallMs() ?? (await serverTime(master));
            clocks.learn(server, sentAtMs, performance.now(), nowMs);
            return { server, nowMs };
          }),
        );
        clocks.keep(times.map(({ server }) => server));
        return times;
      }),
    mark: {
      read: () => ask((redis) => redis.get(CLOCK_KEY)),
      write: (text) => ask((redis) => redis.set(CLOCK_KEY, text)),
    },
  };
}

/** A server's own time in milliseconds; in a cluster, that of any server. */
export async function serverTime(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
