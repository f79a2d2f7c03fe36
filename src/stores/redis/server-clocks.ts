// The clocks of the masters as a gateway knows them: their offsets from its monotonic clock, which of them are right, and by how much
// functions correct one that is not. A correction, unlike a time, lets a call that was under way for too long still find that it is late.
import { agree, ClockJudge } from '../../domain/clock-judge.ts';
import type { ClockMark } from '../../domain/clock-judge.ts';
import type { Clock, ClockStep } from '../../ports/clock.ts';

/** In place of servers' clocks, for tests: judged like them. */
export interface SimulatedServers {
  wallMs(): number;
  monotonicMs(): number;
}

interface ServerClocksOptions {
  /** Used instead of the servers' clocks, and never judged. */
  readonly clock?: Clock | undefined;
  readonly servers?: SimulatedServers | undefined;
}

interface ServerClock {
  judge: ClockJudge;
  /** `undefined` until a reply of the present connection has brought the time. */
  offsetMs: number | undefined;
}

/**
 * A reply's time was read between sending and receiving, which bounds the offset. The lowest possible one is used, so that deadlines
 * are early rather than late: a function must not be executed after its caller has given up. A function that finds the deadline in
 * the past, or more than an hour ahead, does nothing: so a step is noticed before it has any effect.
 */
export class ServerClocks {
  readonly #options: ServerClocksOptions;
  readonly #servers = new Map<string, ServerClock>();
  /** The offset of the store's time, by which servers are judged that are met: of the last one that was right. */
  #rightMs: number | undefined;
  #isAnyWrong = false;

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
    const known = this.#servers.get(node);
    if (known?.offsetMs !== undefined && known.offsetMs >= lowest && known.offsetMs <= highest) return;
    const server = known ?? { judge: new ClockJudge(this.#rightMs ?? lowest), offsetMs: lowest };
    this.#servers.set(node, server);
    server.offsetMs = lowest;
    server.judge.look(lowest);
    this.#count();
  }

  /** Once all masters have been asked: whatever their order, the one nearest to the latest time is believed, and those that agree with it. */
  begin({ latestMs, wrong }: ClockMark): void {
    const known = [...this.#servers.values()];
    const offsets = known.map(({ offsetMs }) => offsetMs!);
    const latest = latestMs === undefined ? Math.min(...offsets) : latestMs - this.#monotonicMs();
    const [nearest] = offsets.toSorted((one, other) => Math.abs(one - latest) - Math.abs(other - latest));
    for (const server of known) {
      server.judge = new ClockJudge(nearest!);
      server.judge.look(server.offsetMs!);
      if (server.judge.stepMs === 0) server.judge.suspect(wrong, this.#monotonicMs());
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
    if (known?.offsetMs === undefined) return 0;
    // Simulated time passes only between calls.
    const passedMs = servers === undefined ? localMs : servers.monotonicMs() + Math.round(localMs - performance.now());
    return Math.floor(passedMs + (known.judge.stepMs === 0 ? known.offsetMs : known.judge.offsetMs));
  }

  /** What a call says of the time: the one that tests control, or what its server's clock is corrected by, which is 0 while it is right. */
  clockFor(node: string): { readonly clock?: number; readonly correction?: number } {
    const { clock, servers } = this.#options;
    if (clock !== undefined) return { clock: clock.nowMs() };
    const known = this.#isAnyWrong ? this.#servers.get(node) : undefined;
    const correction = known?.offsetMs === undefined ? 0 : Math.floor(known.judge.offsetMs - known.offsetMs);
    return servers === undefined ? { correction } : { clock: servers.wallMs() + correction, correction };
  }

  /** The store's time that is believed, by a server's time that was just read; without one, `undefined` until a server was met. */
  now(readMs?: number): number | undefined {
    const { clock } = this.#options;
    if (clock !== undefined) return clock.nowMs();
    if (this.#rightMs === undefined) return readMs;
    const rightMs = Math.floor(this.#monotonicMs() + this.#rightMs);
    return readMs !== undefined && agree(readMs, rightMs) ? readMs : rightMs;
  }

  /** The server whose clock is furthest from the time that is believed. */
  step(): ClockStep | undefined {
    let furthest: ClockStep | undefined;
    for (const [server, { judge }] of this.#isAnyWrong ? this.#servers : []) {
      const byMs = Math.round(judge.stepMs);
      if (Math.abs(byMs) > Math.abs(furthest?.byMs ?? 0)) furthest = { byMs, ...(server === '' ? {} : { server }) };
    }
    return furthest;
  }

  /** What a server's clock says now is not known; it is judged by what was believed before. */
  forget(name: string): void {
    const server = this.#servers.get(name);
    if (server !== undefined) server.offsetMs = undefined;
  }

  /** While every server is wrong, the time goes on from the latest that was believed. */
  #count(): void {
    const judges = [...this.#servers.values()].map(({ judge }) => judge);
    if (judges.length === 0) return;
    const right = judges.filter(({ stepMs }) => stepMs === 0);
    this.#isAnyWrong = right.length < judges.length;
    this.#rightMs = right.at(-1)?.offsetMs ?? Math.max(...judges.map(({ offsetMs }) => offsetMs));
  }

  #monotonicMs(): number {
    return this.#options.servers?.monotonicMs() ?? performance.now();
  }
}
