// The clock of a store that goes by those of its gateways' machines: a shared record has the latest time that the store has seen, by
// which every process judges its machine's clock, and which clock was found wrong, so that a process that starts does not believe it.
import { aheadMs, agree, JudgedClock, stepText } from '../../domain/clock-judge.ts';
import type { ClockMark } from '../../domain/clock-judge.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, Clock, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

const MARK: RecordName = { table: 'clock', id: 'latest' };
/** How often the latest time is written to a store. */
const MARK_EVERY_MS = 60_000;

class RecordClock implements StoreClock {
  readonly #space: RecordSpace;
  readonly #clock: JudgedClock;
  readonly #marks = new ClockMarks();

  constructor(space: RecordSpace, clock: JudgedClock) {
    this.#space = space;
    this.#clock = clock;
  }

  step(): ClockStep | undefined {
    const byMs = this.#clock.stepMs;
    return byMs === 0 ? undefined : { byMs };
  }

  async look(): Promise<number | undefined | StoreUnavailable> {
    const mark = await markOf(this.#space);
    if (isUnavailable(mark)) return mark;
    this.#clock.compare(mark.latestMs);
    const next = this.#marks.next(mark, this.#clock.nowMs(), this.#clock.stepMs);
    if (next === undefined) return mark.latestMs;
    return (await this.#write(next)) ?? next.latestMs;
  }

  async accept(): Promise<AcceptedClock | StoreUnavailable> {
    const mark = await markOf(this.#space);
    if (isUnavailable(mark)) return mark;
    const nowMs = this.#clock.accept();
    return (await this.#write({ latestMs: nowMs, wrong: undefined })) ?? acceptedClock(nowMs, mark.latestMs);
  }

  async #write(mark: ClockMark): Promise<StoreUnavailable | undefined> {
    const put = [{ ...MARK, value: markText(mark) }];
    const written = await this.#space.change(SHARED_RECORDS, [], () => ({ result: true, put }));
    return isUnavailable(written) ? written : undefined;
  }
}

async function markOf(space: RecordSpace): Promise<ClockMark | StoreUnavailable> {
  const found = await space.read(SHARED_RECORDS, [MARK]);
  return isUnavailable(found) ? found : readMark(found[0]);
}

/** The clock of this machine, not judged yet. */
export function openMachineClock(): JudgedClock {
  return new JudgedClock({ wallMs: Date.now, monotonicMs: performance.now.bind(performance) });
}

/** Judges the machine's clock before anything goes by it. */
export async function beginClock(space: RecordSpace, clock: Clock, log: Log): Promise<void> {
  if (!(clock instanceof JudgedClock)) return;
  const mark = answered(await markOf(space));
  clock.begin(mark);
  mentionAhead(log, clock.nowMs(), mark.latestMs);
}

/** A clock whose time tests move as they like is always believed. */
export function storeClock(space: RecordSpace, clock: Clock): StoreClock {
  if (clock instanceof JudgedClock) return new RecordClock(space, clock);
  return { step: () => undefined, look: async () => undefined, accept: async () => acceptedClock(clock.nowMs(), undefined) };
}

/** The latest time that a store has seen, and a clock that was found wrong, as integers with spaces between; what is no time is none. */
export function readMark(value: string | null | undefined): ClockMark {
  const [latestMs, byMs, atMs] = (value ?? '').split(' ').map((word) => (/^-?\d{1,15}$/.test(word) ? Number(word) : undefined));
  return { latestMs, wrong: byMs === undefined || atMs === undefined ? undefined : { byMs, atMs } };
}

export function markText({ latestMs = 0, wrong }: ClockMark): string {
  return wrong === undefined ? String(latestMs) : `${latestMs} ${wrong.byMs} ${wrong.atMs}`;
}

/** What one process writes of its clock: the time once a minute while it is right, and how far it is off while it is wrong. */
export class ClockMarks {
  #wasWrong = false;

  /** `nowMs` is the time that is believed; `undefined` if there is nothing to write. */
  next({ latestMs, wrong }: ClockMark, nowMs: number, stepMs: number): (ClockMark & { readonly latestMs: number }) | undefined {
    const wrongForMs = wrong === undefined ? Infinity : nowMs - wrong.atMs;
    if (stepMs !== 0) {
      this.#wasWrong = true;
      const byMs = Math.round(stepMs);
      return wrong !== undefined && wrongForMs < MARK_EVERY_MS && agree(byMs, wrong.byMs)
        ? undefined
        : { latestMs: latestMs ?? nowMs, wrong: { byMs, atMs: nowMs } };
    }
    if (!this.#wasWrong && nowMs < (latestMs ?? -Infinity) + MARK_EVERY_MS) return undefined;
    // Another machine's clock may be wrong meanwhile, and its process is about to say so again.
    const kept = wrongForMs < 2 * MARK_EVERY_MS && !this.#wasWrong ? wrong : undefined;
    this.#wasWrong = false;
    return { latestMs: nowMs, wrong: kept };
  }
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
