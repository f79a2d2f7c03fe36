// The clocks of the masters as a gateway knows them: their offsets from its monotonic clock, which of them are believed, and by how much
// functions correct one that is not. A correction, unlike a time, lets a call that was under way for too long still find that it is late.
import { agree, ClockJudge } from '../../domain/clock-judge.ts';
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
  readonly judge: ClockJudge;
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
  /** The offset of the store's time: of the last server that was believed. */
  #believedMs: number | undefined;
  #isAnyHeld = false;

  constructor(options: ServerClocksOptions = {}) {
    this.#options = options;
  }

  /** Whether no server's clock counts. */
  get isGiven(): boolean {
    return this.#options.clock !== undefined || this.#options.servers !== undefined;
  }

  /** The store's latest known time, by which servers are judged from now on; before any of them has been met. */
  begin(latestMs: number): void {
    this.#believedMs = latestMs - this.#monotonicMs();
  }

  /** `nowMs` is a server's own time, the others are local. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    const { servers } = this.#options;
    // Simulated time passes only between calls.
    const lowest = nowMs - (servers?.monotonicMs() ?? receivedAtMs);
    // The server's time is rounded down to milliseconds.
    const highest = nowMs + 1 - (servers?.monotonicMs() ?? sentAtMs);
    const offset = this.#servers.get(node)?.offsetMs;
    if (offset === undefined || offset < lowest || offset > highest) this.#judge(node, lowest);
  }

  /**
   * The time at a server, as functions there take it, at a local time. 0 as long as its clock is unknown: a function with that
   * deadline has no effect, and its reply brings the time.
   */
  at(node: string, localMs: number): number {
    const { clock } = this.#options;
    if (clock !== undefined) return Math.floor(localMs + clock.nowMs() - performance.now());
    const offset = this.#servers.get(node)?.offsetMs;
    return offset === undefined ? 0 : Math.floor(this.#local(localMs) + (this.#isHeld(node) ? this.#believedMs! : offset));
  }

  /** What a function adds to its server's clock, in milliseconds: 0 while that is believed. */
  correctionOf(node: string): number {
    if (!this.#isHeld(node)) return 0;
    const offset = this.#servers.get(node)!.offsetMs;
    return offset === undefined ? 0 : Math.floor(this.#believedMs! - offset);
  }

  /** What a call says of the time: the one that tests control, or what its server's clock is corrected by. */
  clockFor(node: string): { readonly clock?: number; readonly correction?: number } {
    const { clock, servers } = this.#options;
    if (clock !== undefined) return { clock: clock.nowMs() };
    const correction = this.correctionOf(node);
    return servers === undefined ? { correction } : { clock: servers.wallMs() + correction, correction };
  }

  /** The store's time that is believed, by a server's time that was just read; without one, `undefined` until a server was met. */
  now(readMs?: number): number | undefined {
    const { clock } = this.#options;
    if (clock !== undefined) return clock.nowMs();
    if (this.#believedMs === undefined) return readMs;
    const believedMs = this.#believedNow();
    return readMs !== undefined && agree(readMs, believedMs) ? readMs : believedMs;
  }

  /** Another witness confirms this time: servers that agree with it are believed from now on. */
  confirm(latestMs: number): void {
    const localMs = this.#monotonicMs();
    for (const { judge, offsetMs } of this.#servers.values()) {
      if (judge.stepMs === 0 || offsetMs === undefined || !agree(localMs + offsetMs, latestMs)) continue;
      judge.trust(offsetMs, localMs);
      this.#believedMs = offsetMs;
    }
    this.#count();
  }

  /** The server whose clock is furthest from the time that is believed. */
  step(): ClockStep | undefined {
    let furthest: ClockStep | undefined;
    for (const [server, { judge }] of this.#isAnyHeld ? this.#servers : []) {
      const byMs = judge.stepMs;
      if (Math.abs(byMs) > Math.abs(furthest?.byMs ?? 0)) furthest = { byMs, ...(server === '' ? {} : { server }) };
    }
    return furthest;
  }

  /** A new connection may lead to another server with a different clock, which is judged by what was believed before. */
  forget(): void {
    for (const server of this.#servers.values()) server.offsetMs = undefined;
  }

  #judge(node: string, offsetMs: number): void {
    const monotonicMs = this.#monotonicMs();
    const known = this.#servers.get(node);
    const server = known ?? { judge: new ClockJudge(this.#believedMs ?? offsetMs, monotonicMs), offsetMs };
    if (known === undefined) this.#servers.set(node, server);
    server.offsetMs = offsetMs;
    const others = [...this.#servers.values()].filter(
      (other) => other !== server && other.offsetMs !== undefined && other.judge.stepMs === 0,
    );
    const isConfirmed = others.some((other) => agree(other.offsetMs!, offsetMs));
    server.judge.look(offsetMs, monotonicMs, others.length > 0 && !isConfirmed);
    if (server.judge.stepMs !== 0 && isConfirmed) server.judge.trust(offsetMs, monotonicMs);
    if (server.judge.stepMs === 0) this.#believedMs = offsetMs;
    this.#count();
  }

  /** Judges the servers whose time has not changed: a step has to be seen for ten minutes. */
  look(): void {
    for (const [node, { offsetMs }] of this.#servers) if (offsetMs !== undefined) this.#judge(node, offsetMs);
  }

  #count(): void {
    this.#isAnyHeld = [...this.#servers.values()].some(({ judge }) => judge.stepMs !== 0);
  }

  #isHeld(node: string): boolean {
    return this.#isAnyHeld && (this.#servers.get(node)?.judge.stepMs ?? 0) !== 0;
  }

  #believedNow(): number {
    return Math.floor(this.#monotonicMs() + this.#believedMs!);
  }

  #monotonicMs(): number {
    return this.#options.servers?.monotonicMs() ?? performance.now();
  }

  /** Simulated time passes only between calls. */
  #local(localMs: number): number {
    const { servers } = this.#options;
    return servers === undefined ? localMs : servers.monotonicMs() + Math.round(localMs - performance.now());
  }
}
