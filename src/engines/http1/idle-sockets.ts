// The idle connections to a replica, and when they may be reused.
import type { Client } from './client.ts';

/** Shorter than any engine's likely idle timeout, so that a call rarely hits a connection that is about to close. */
const IDLE_MS_MAX = 4000;
/** A connection is not reused if less than this remains of the idle timeout that the server announced. */
const MARGIN_MS = 1000;
/** How often expired connections are closed; whether one may be reused is checked to the millisecond. */
const SWEEP_MS = 500;

export class IdleSockets {
  /** Takes no more connections. */
  closed = false;
  readonly #nowMs: () => number;
  readonly #owner: { onFree(client: Client): void };
  /** Most recent last. */
  readonly #idle: Client[] = [];
  /** Connections about to become free. */
  #resting = 0;
  /** One timer for all, while there are any. */
  #sweeping: NodeJS.Timeout | undefined = undefined;

  /** `onFree` is called when a connection has become idle. */
  constructor(nowMs: () => number, owner: { onFree(client: Client): void }) {
    this.#nowMs = nowMs;
    this.#owner = owner;
  }

  get idle(): number {
    return this.#idle.length;
  }

  get resting(): number {
    return this.#resting;
  }

  /**
   * Takes a connection after its answer. It rests until the event loop has polled all sockets once more: if the engine sends
   * anything after its answer, or closes the connection, that is noticed before the next request is sent on it.
   */
  rest(client: Client): void {
    const idleMs = Math.min(IDLE_MS_MAX, client.keepsSeconds * 1000 - MARGIN_MS);
    if (this.closed || idleMs <= 0) {
      client.destroy();
      return;
    }
    client.idleUntilMs = this.#nowMs() + idleMs;
    this.#resting++;
    setImmediate(() => {
      if (client.unsent) client.destroy();
      setImmediate(() => this.#rested(client));
    });
  }

  #rested(client: Client): void {
    this.#resting--;
    if (client.gone) return;
    client.idle = true;
    this.#idle.push(client);
    this.#owner.onFree(client);
    this.#sweeping ??= setInterval(this.#sweep, SWEEP_MS).unref();
  }

  /** Most recent first, so that surplus connections age and are closed. */
  take(nowMs: number): Client | undefined {
    for (let client = this.#idle.pop(); client !== undefined; client = this.#idle.pop()) {
      if (client.idleUntilMs > nowMs) {
        client.idle = false;
        return client;
      }
      client.destroy();
    }
    return undefined;
  }

  /** Makes room for another connection. */
  dropOldest(): void {
    this.#idle.shift()?.destroy();
  }

  /** An idle connection has been closed. */
  forget(client: Client): void {
    const at = this.#idle.indexOf(client);
    if (at !== -1) this.#idle.splice(at, 1);
  }

  readonly #sweep = (): void => {
    const nowMs = this.#nowMs();
    for (const client of this.#idle.filter(({ idleUntilMs }) => idleUntilMs <= nowMs)) client.destroy();
    if (this.#idle.length > 0) return;
    clearInterval(this.#sweeping);
    this.#sweeping = undefined;
  };
}
