// The latest requests of this process that were refused or met a failure, for operators who look for the reason.
import type { AccessEntry, AccessLog, RecentRequest } from '../ports/access-entry.ts';

/** Of refusals, and of failures: a flood of one kind must not push out the other. */
const RECENT_MAX = 1000;

export class RecentRequests implements AccessLog {
  readonly #nowMs: () => number;
  readonly #refused = new Ring<RecentRequest>(RECENT_MAX);
  readonly #failed = new Ring<RecentRequest>(RECENT_MAX);

  /** `nowMs` is the wall clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Keeps it if it was refused, failed, or was answered in spite of a failed attempt. Who disconnected is in the log alone. */
  record(entry: AccessEntry): void {
    const { status, code, failures } = entry;
    if (status === undefined || (code === 'ok' && failures === undefined)) return;
    const { requestId, route, teamId, keyId, engine, parameter, limitOf } = entry;
    const ring = status >= 500 || failures !== undefined ? this.#failed : this.#refused;
    ring.add({ requestId, atMs: this.#nowMs(), route, status, code, teamId, keyId, engine, failures, parameter, limitOf });
  }

  /** Newest first. */
  snapshot(): readonly RecentRequest[] {
    return newestFirst([...this.#refused.items(), ...this.#failed.items()]);
  }
}

/** By request id, which begins with the time. */
export function newestFirst(requests: readonly RecentRequest[]): readonly RecentRequest[] {
  return requests.toSorted((a, b) => (a.requestId < b.requestId ? 1 : -1));
}

/** The last `max` items that were added. */
class Ring<T> {
  readonly #max: number;
  readonly #items: T[] = [];
  #next = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.#max;
  }

  items(): readonly T[] {
    return this.#items;
  }
}
