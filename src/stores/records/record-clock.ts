// The clock of a store that goes by those of its gateways' machines: a shared record has the latest time that the store has seen, by
// which every process judges its machine's clock.
import { aheadMs, agree, JudgedClock, stepText } from '../../domain/clock-judge.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, Clock, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

const LATEST: RecordName = { table: 'clock', id: 'latest' };
/** How often the latest time is written to a store. */
export const MARK_EVERY_MS = 60_000;

class RecordClock implements StoreClock {
  readonly #space: RecordSpace;
  readonly #clock: JudgedClock;

  constructor(space: RecordSpace, clock: JudgedClock) {
    this.#space = space;
    this.#clock = clock;
  }

  step(): ClockStep | undefined {
    const byMs = this.#clock.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  async look(): Promise<number | undefined | StoreUnavailable> {
    const latestMs = await latestOf(this.#space);
    if (isUnavailable(latestMs)) return latestMs;
    this.#clock.compare(latestMs);
    const nowMs = this.#clock.nowMs();
    if (this.#clock.stepMs !== 0 || nowMs < (latestMs ?? -Infinity) + MARK_EVERY_MS) return latestMs;
    return (await this.#write(nowMs)) ?? nowMs;
  }

  async accept(): Promise<AcceptedClock | StoreUnavailable> {
    const latestMs = await latestOf(this.#space);
    if (isUnavailable(latestMs)) return latestMs;
    const nowMs = this.#clock.accept();
    return (await this.#write(nowMs)) ?? acceptedClock(nowMs, latestMs);
  }

  async #write(latestMs: number): Promise<StoreUnavailable | undefined> {
    const put = [{ ...LATEST, value: String(latestMs) }];
    const written = await this.#space.change(SHARED_RECORDS, [], () => ({ result: true, put }));
    return isUnavailable(written) ? written : undefined;
  }
}

async function latestOf(space: RecordSpace): Promise<number | undefined | StoreUnavailable> {
  const found = await space.read(SHARED_RECORDS, [LATEST]);
  return isUnavailable(found) ? found : readMark(found[0]);
}

/** Judges the machine's clock before anything goes by it. */
export async function beginClock(space: RecordSpace, clock: Clock, log: Log): Promise<void> {
  if (!(clock instanceof JudgedClock)) return;
  const latestMs = answered(await latestOf(space));
  clock.compare(latestMs);
  mentionAhead(log, clock.nowMs(), latestMs);
}

/** A clock whose time tests move as they like is always believed. */
export function storeClock(space: RecordSpace, clock: Clock): StoreClock {
  if (clock instanceof JudgedClock) return new RecordClock(space, clock);
  return { step: () => undefined, look: async () => undefined, accept: async () => acceptedClock(clock.nowMs(), undefined) };
}

/** The latest time that a store has seen; what is no time is none. */
export function readMark(value: string | null | undefined): number | undefined {
  const latestMs = Number(value ?? undefined);
  return Number.isSafeInteger(latestMs) ? latestMs : undefined;
}

export function acceptedClock(nowMs: number, latestMs: number | undefined): AcceptedClock {
  return { kind: 'accepted', nowMs, steppedMs: latestMs === undefined || agree(nowMs, latestMs) ? 0 : nowMs - latestMs };
}

/** Logs one line when a process starts with a clock that is far beyond the latest time: it may be wrong, or every gateway was off. */
export function mentionAhead(log: Log, nowMs: number, latestMs: number | undefined): void {
  const byMs = aheadMs(nowMs, latestMs);
  if (byMs !== undefined)
    log.warn(`the clock is ${stepText(byMs)} the latest time of the store, and is believed`, { step_seconds: Math.round(byMs / 1000) });
}
