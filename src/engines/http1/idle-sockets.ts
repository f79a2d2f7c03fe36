// The connections to a replica that wait for their next exchange, and when they may have it.
import type { EngineSocket } from './client.ts';

/** Shorter than any engine's idle timeout is likely to be, so that a call seldom meets a connection that is about to close. */
const KEPT_MS_MAX = 4000;
/** So much before the time that a server itself named. */
const MARGIN_MS = 1000;
/** How exactly idle connections are closed; they are handed out to the millisecond. */
const SWEEP_MS = 500;

export class KeptSockets {
  readonly #nowMs: () => number;
  /** A connection is free. */
  readonly #onFree: () => void;
  /** Latest last. */
  readonly #idle: EngineSocket[] = [];
  /** Their answers came in this turn of the event loop, or in the one before. */
  #resting: EngineSocket[] = [];
  #rested: EngineSocket[] = [];
  /** One timer for all, while there are any. */
  #sweeping: NodeJS.Timeout | undefined = undefined;

  constructor(nowMs: () => number, onFree: () => void) {
    this.#nowMs = nowMs;
    this.#onFree = onFree;
  }

  get idle(): number {
    return this.#idle.length;
  }

  /** About to be free. */
  get resting(): number {
    return this.#resting.length + this.#rested.length;
  }

  /**
   * Takes a connection behind its answer. It rests until the event loop has looked at all sockets once more: what an engine
   * sends behind its answer, be it a second one or the connection's end, is seen before a further request goes out.
   */
  rest(socket: EngineSocket): void {
    const keptMs = Math.min(KEPT_MS_MAX, socket.keepsSeconds * 1000 - MARGIN_MS);
    if (keptMs <= 0) {
      socket.destroy();
      return;
    }
    socket.keptUntilMs = this.#nowMs() + keptMs;
    this.#resting.push(socket);
    if (this.#resting.length + this.#rested.length === 1) setImmediate(this.#turn);
  }

  /** The latest first: the others get old, and are closed when fewer are needed. */
  take(): EngineSocket | undefined {
    if (this.#idle.length === 0) return undefined;
    const nowMs = this.#nowMs();
    for (let socket = this.#idle.pop(); socket !== undefined; socket = this.#idle.pop()) {
      if (socket.keptUntilMs > nowMs) {
        socket.idle = false;
        return socket;
      }
      socket.destroy();
    }
    return undefined;
  }

  /** Makes room for another connection. */
  dropOldest(): void {
    this.#idle.shift()?.destroy();
  }

  /** An idle connection is gone. */
  forget(socket: EngineSocket): void {
    const at = this.#idle.indexOf(socket);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  readonly #turn = (): void => {
    const ready = this.#rested;
    this.#rested = this.#resting;
    this.#resting = [];
    if (this.#rested.length > 0) setImmediate(this.#turn);
    for (const socket of ready) {
      if (socket.gone) continue;
      socket.idle = true;
      this.#idle.push(socket);
      this.#onFree();
    }
    if (this.#idle.length > 0) this.#sweeping ??= setInterval(this.#sweep, SWEEP_MS).unref();
  };

  readonly #sweep = (): void => {
    const nowMs = this.#nowMs();
    for (const socket of this.#idle.filter(({ keptUntilMs }) => keptUntilMs <= nowMs)) socket.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  };
}
