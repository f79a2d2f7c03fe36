// Counts refusals in memory, and tells the store once a second: a flood that is refused costs it no call for each request.
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import { NO_REFUSALS } from '../domain/usage-days.ts';
import type { RefusalCode, RefusalCounter, RefusalCounts, RefusalDays } from '../ports/refusal-days.ts';

interface PendingRefusalsOptions {
  readonly days: RefusalDays & {
    add(teamId: string, counts: RefusalCounts, nowMs: number): Promise<StoreUnavailable | undefined>;
  };
  /** The time that is believed. */
  readonly nowMs: () => number;
  readonly everyMs?: number;
  /** Teams whose counts are kept at most; the store is told sooner if there are more. */
  readonly teamsMax?: number;
}

const EVERY_MS = 1000;
const TEAMS_MAX = 1000;
/** Teams that the store is told of at a time. */
const TOGETHER_MAX = 16;

/**
 * What the store could not be told is dropped, because it may have been counted: there are never more than were refused. A process
 * that is killed loses the last second.
 */
export class PendingRefusals implements RefusalCounter, RefusalDays {
  readonly #options: PendingRefusalsOptions;
  #pending = new Map<string, Record<RefusalCode, number>>();
  #timer: NodeJS.Timeout | undefined;
  #telling: Promise<void> = Promise.resolve();

  constructor(options: PendingRefusalsOptions) {
    this.#options = options;
  }

  count(teamId: string, code: RefusalCode): void {
    const known = this.#pending.get(teamId);
    if (known !== undefined) {
      known[code]++;
      return;
    }
    this.#pending.set(teamId, { ...NO_REFUSALS, [code]: 1 });
    if (this.#pending.size >= (this.#options.teamsMax ?? TEAMS_MAX)) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), this.#options.everyMs ?? EVERY_MS).unref();
  }

  /** Includes what this process has not told the store yet. */
  async sum(teamId: string, range: DayRange): Promise<RefusalCounts | StoreUnavailable> {
    await this.flush();
    return this.#options.days.sum(teamId, range);
  }

  /** Resolves when the store was told of everything counted before. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const counted = [...this.#pending];
    this.#pending = new Map();
    if (counted.length > 0) this.#telling = this.#telling.then(() => this.#tell(counted));
    return this.#telling;
  }

  async #tell(counted: readonly (readonly [string, RefusalCounts])[]): Promise<void> {
    const nowMs = this.#options.nowMs();
    for (let first = 0; first < counted.length; first += TOGETHER_MAX) {
      const some = counted.slice(first, first + TOGETHER_MAX);
      const told = await Promise.all(
        some.map(async ([teamId, counts]) => this.#options.days.add(teamId, counts, nowMs).catch(() => undefined)),
      );
      // A store that does not answer would hold up what stops the process, once for each batch.
      if (told.some((one) => isUnavailable(one))) return;
    }
  }
}
