// The clocks of the masters as a gateway knows them: their offsets from its monotonic clock, which of them are right, and by how much
// functions correct one that is not. A correction, unlike a time, lets a call that was under way for too long still find that out.
import { ClockJudge } from '../../domain/clock-judge.ts';
import type { ClockMark } from '../../domain/clock-judge.ts';
import type { Clock, ClocksApart, ClockStep } from '../../ports/clock.ts';
import { mastersOf, nameOf } from './redis-connection.ts';
import type { RedisConnection } from './redis-connection.ts';

interface ServerClock {
  readonly offsetMs: number;
  /** Whether a reply of the present connection has brought the time. */
  readonly isKnown: boolean;
}

/**
 * A reply's time was read between sending and receiving, which bounds the offset. The lowest possible one is used, so that deadlines
 * are too early rather than too far away: a function must not be executed after its caller has given up. A function that finds the deadline in
 * the past, or more than an hour ahead, does nothing: so a step is noticed before it has any effect.
 */
export class ServerClocks {
  /** The one of tests that control time: no server's clock counts then. */
  readonly given: Clock | undefined;
  readonly #servers = new Map<string, ServerClock>();
  /** Once a server was met. */
  #judge: ClockJudge | undefined;

  constructor(given?: Clock) {
    this.given = given;
  }

  /** `nowMs` is a server's own time, the others are local. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    if (this.given !== undefined) return;
    const lowest = nowMs - receivedAtMs;
    // The server's time is rounded down to milliseconds.
    const highest = nowMs + 1 - sentAtMs;
    const known = this.#servers.get(node);
    if (known?.isKnown === true && known.offsetMs >= lowest && known.offsetMs <= highest) return;
    this.#servers.set(node, { offsetMs: lowest, isKnown: true });
    this.#judge ??= new ClockJudge(lowest);
    this.#judge.look(lowest);
  }

  /** Asks every master for its time, and forgets the servers that are masters no more. */
  async read(redis: RedisConnection): Promise<ClocksApart['servers']> {
    const times = await Promise.all(
      mastersOf(redis).map(async (master) => {
        const server = 'slots' in redis ? nameOf(master) : '';
        const sentAtMs = performance.now();
        const [seconds, microseconds] = await master.time();
        const nowMs = Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
        this.learn(server, sentAtMs, performance.now(), nowMs);
        return { server, nowMs };
      }),
    );
    this.keep(times.map(({ server }) => server));
    return times;
  }

  keep(masters: readonly string[]): void {
    for (const name of this.#servers.keys()) if (!masters.includes(name)) this.#servers.delete(name);
  }

  /** Once all masters have been asked. */
  begin(mark: ClockMark): void {
    this.#judge?.begin(mark, this.#offsets(), performance.now());
  }

  /** Judges every server by the latest time that the store has seen. */
  compare(latestMs: number | undefined): void {
    this.#judge?.compare(latestMs, this.#offsets(), performance.now());
  }

  /**
   * The time at a server, as functions there take it, at a local time. 0 as long as its clock is unknown: a function with that
   * deadline has no effect, and its reply brings the time.
   */
  at(node: string, localMs: number): number {
    if (this.given !== undefined) return Math.floor(localMs + this.given.nowMs() - performance.now());
    const server = this.#servers.get(node);
    return server?.isKnown === true ? Math.floor(localMs + server.offsetMs - this.#judge!.stepOf(server.offsetMs)) : 0;
  }

  /** What a call says of the time: the one that tests control, or what its server's clock is corrected by if it is wrong. */
  clockFor(node: string): { readonly clock?: number; readonly correction?: number } {
    if (this.given !== undefined) return { clock: this.given.nowMs() };
    const server = this.#servers.get(node);
    const stepMs = server?.isKnown === true ? this.#judge!.stepOf(server.offsetMs) : 0;
    return stepMs === 0 ? {} : { correction: -Math.ceil(stepMs) };
  }

  /** The store's time that is believed, once a server was met. */
  nowMs(): number {
    return this.given?.nowMs() ?? Math.floor(performance.now() + this.#judge!.offsetMs);
  }

  /** The time of a server that is believed; of one that is unknown, the store's. */
  nowAt(node: string): number {
    return this.given === undefined && this.isKnown(node) ? this.at(node, performance.now()) : this.nowMs();
  }

  isKnown(node: string): boolean {
    return this.given !== undefined || this.#servers.get(node)?.isKnown === true;
  }

  /** The server whose clock is furthest from the time that is believed. */
  step(): ClockStep | undefined {
    let furthest: ClockStep | undefined;
    for (const [server, { offsetMs }] of this.#servers) {
      const byMs = Math.round(this.#judge!.stepOf(offsetMs));
      if (Math.abs(byMs) > Math.abs(furthest?.byMs ?? 0)) furthest = { byMs, server: server === '' ? undefined : server };
    }
    return furthest;
  }

  /** What a server's clock says now is not known; it is judged by what was believed before. */
  forget(name: string): void {
    const server = this.#servers.get(name);
    if (server !== undefined) this.#servers.set(name, { ...server, isKnown: false });
  }

  #offsets(): number[] {
    return [...this.#servers.values()].map(({ offsetMs }) => offsetMs);
  }
}
