// As many requests in flight as there are connections: each answer triggers the next request.
import { Histogram } from './histogram.ts';
import type { LoadConnection, OnAnswer } from './load-connection.ts';
import type { LoadResult } from './load-job.ts';

export class ClosedLoad {
  readonly #connections: readonly LoadConnection[];
  readonly #requests: readonly Buffer[];
  readonly #latencies = new Histogram();
  readonly #done = Promise.withResolvers<LoadResult>();
  #next = 0;
  #faults = 0;
  #fault: string | undefined = undefined;
  #under = 0;
  #startedMs = 0;
  #untilMs = 0;

  constructor(connections: readonly LoadConnection[], requests: readonly Buffer[]) {
    this.#connections = connections;
    this.#requests = requests;
  }

  /** Resolves when the last answer has arrived: none is abandoned. */
  run(durationMs: number): Promise<LoadResult> {
    this.#startedMs = performance.now();
    this.#untilMs = this.#startedMs + durationMs;
    for (const connection of this.#connections) this.#send(connection, this.#startedMs);
    return this.#done.promise;
  }

  readonly onAnswer: OnAnswer = (connection, fault) => {
    const now = performance.now();
    this.#under--;
    if (fault === undefined) this.#latencies.recordMs(now - connection.dueMs);
    else this.#blame(fault);
    if (now < this.#untilMs) this.#send(connection, now);
    else if (this.#under === 0) this.#finish(now);
  };

  #send(connection: LoadConnection, now: number): void {
    this.#next = this.#next + 1 === this.#requests.length ? 0 : this.#next + 1;
    this.#under++;
    connection.dueMs = now;
    connection.send(this.#requests[this.#next]!);
  }

  #blame(fault: string): void {
    this.#faults++;
    this.#fault ??= fault;
  }

  #finish(now: number): void {
    const latencies = this.#latencies.pack();
    const answers = this.#latencies.total;
    this.#done.resolve({ answers, faults: this.#faults, fault: this.#fault, elapsedMs: now - this.#startedMs, latencies, lateness: [] });
  }
}
