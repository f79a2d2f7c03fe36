// Counts the failed sign-ins of each address within the last minute.
import { callerNetwork } from '../domain/client-address.ts';

const WINDOW_MS = 60_000;
const FAILURES_MAX = 10;
/** Beyond this many addresses, the one whose last failure is the oldest is dropped. */
const ADDRESSES_MAX = 10_000;

export class RecentFailures {
  readonly #now: () => number;
  /** The times of each address's failures, oldest first; addresses in the order of their last one. */
  readonly #failed = new Map<string, number[]>();

  /** `now` is a monotonic clock in milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Whether the address has as many failures as it may have. */
  isFull(address: string): boolean {
    return this.#recent(callerNetwork(address)).length >= FAILURES_MAX;
  }

  /** Counts a failure. `true` if it is one too many. */
  add(address: string): boolean {
    const network = callerNetwork(address);
    const recent = this.#recent(network);
    // More than one above the limit need not be counted.
    if (recent.length <= FAILURES_MAX) recent.push(this.#now());
    this.#failed.delete(network);
    this.#failed.set(network, recent);
    if (this.#failed.size > ADDRESSES_MAX) this.#failed.delete(this.#failed.keys().next().value!);
    return recent.length > FAILURES_MAX;
  }

  #recent(network: string): number[] {
    const nowMs = this.#now();
    return (this.#failed.get(network) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS);
  }
}
