// Counts the unknown keys looked up per address (per /64 for IPv6) within a minute, so that guessing keys does not load the
// store.
import { callerNetwork } from '../domain/client-address.ts';
import type { UnknownKeyLimit } from '../ports/key-directory.ts';

interface AddressLimitOptions {
  /** Unknown keys per address and minute; further ones are not looked up. */
  readonly perMinute: number;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

const WINDOW_MS = 60_000;
/** Beyond this many, the address whose minute began first is dropped. */
const ADDRESSES_MAX = 10_000;

interface Count {
  sinceMs: number;
  unknown: number;
}

export class AddressLimit implements UnknownKeyLimit {
  readonly #options: AddressLimitOptions;
  /** Ordered by the start of their minutes. */
  readonly #counts = new Map<string, Count>();

  constructor(options: AddressLimitOptions) {
    this.#options = options;
  }

  reached(address: string): boolean {
    const count = this.#counts.get(callerNetwork(address));
    return count !== undefined && count.unknown >= this.#options.perMinute && this.#options.now() - count.sinceMs < WINDOW_MS;
  }

  add(address: string): void {
    const nowMs = this.#options.now();
    const network = callerNetwork(address);
    const count = this.#counts.get(network);
    if (count !== undefined && nowMs - count.sinceMs < WINDOW_MS) {
      count.unknown++;
      return;
    }
    this.#counts.delete(network);
    this.#counts.set(network, { sinceMs: nowMs, unknown: 1 });
    if (this.#counts.size > ADDRESSES_MAX) this.#counts.delete(this.#counts.keys().next().value!);
  }
}
