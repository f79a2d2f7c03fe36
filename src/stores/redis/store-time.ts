// The servers' clocks, learnt from their replies, so that deadlines can be set by them.
import type { RedisConnection } from './redis-connection.ts';

/**
 * Per node, the offset from the local monotonic clock. A reply's time was read between sending and receiving, which bounds
 * the offset; the lowest one that fits is used, so that deadlines are early rather than late: a function must not run when its
 * caller has given up.
 */
export class StoreTime {
  readonly #offsets = new Map<string, number>();

  /** `nowMs` is the store's reading, the others are local ones. */
  learn(node: string, sentAtMs: number, receivedAtMs: number, nowMs: number): void {
    const lowest = nowMs - receivedAtMs;
    // The reading is in whole milliseconds, rounded down.
    const highest = nowMs + 1 - sentAtMs;
    const offset = this.#offsets.get(node);
    if (offset === undefined || offset < lowest || offset > highest) this.#offsets.set(node, lowest);
  }

  /** The store's time at a local moment; `undefined` while nothing is known of the node. */
  at(node: string, localMs: number): number | undefined {
    const offset = this.#offsets.get(node);
    return offset === undefined ? undefined : Math.floor(localMs + offset);
  }

  /** A new connection may lead to another server with another clock. */
  forget(): void {
    this.#offsets.clear();
  }
}

/** A server's own reading, in milliseconds; in a cluster any server's. */
export async function serverTime(redis: RedisConnection): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}
