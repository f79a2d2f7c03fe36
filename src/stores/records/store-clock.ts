// The clock of a store: its machine's, or those of its servers. The store has the latest time that it has seen, by which every process
// judges, and which clock was found wrong, so that a process that starts does not believe it.
import { aheadMs, agree, JudgedClock, stepText } from '../../domain/clock-judge.ts';
import type { ClockMark } from '../../domain/clock-judge.ts';
import { SHARED_RECORDS } from '../../domain/shared-records.ts';
import { answered, answering } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, Clock, ClocksApart, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordName, RecordSpace } from '../../ports/record-space.ts';

/** What a store goes by. Reading and writing fail with a `StoreError`. */
export interface ClocksOfStore {
  readonly clocks: {
    /** The time that is believed, once the clocks were read. */
    nowMs(): number;
    step(): ClockStep | undefined;
    begin(mark: ClockMark): void;
    compare(latestMs: number | undefined): void;
  };
  /** Reads every clock, so that it is judged. */
  readonly read: () => Promise<ClocksApart['servers']>;
  readonly mark: {
    read(): Promise<string | null | undefined>;
    write(text: string): Promise<unknown>;
  };
}

const MARK: RecordName = { table: 'clock', id: 'latest' };
/** How often the latest time is written to a store. */
const MARK_EVERY_MS = 60_000;

/** Judges the clocks before anything goes by them. One that is far beyond the latest time may be wrong, or every gateway was off. */
export async function beginClocks({ clocks, read, mark }: ClocksOfStore, log: Log): Promise<void> {
  await read();
  const found = readMark(await mark.read());
  clocks.begin(found);
  const byMs = aheadMs(clocks.nowMs(), found.latestMs);
  if (byMs !== undefined)
    log.warn(`the clock is ${stepText(byMs)} the latest time of the store, and is believed`, { step_seconds: Math.round(byMs / 1000) });
}

export function judgedClock({ clocks, read, mark }: ClocksOfStore): StoreClock {
  const marks = new ClockMarks();
  return {
    step: () => clocks.step(),
    look: () =>
      answering(async () => {
        await read();
        const found = readMark(await mark.read());
        clocks.compare(found.latestMs);
        const next = marks.next(found, clocks.nowMs(), clocks.step()?.byMs ?? 0);
        if (next !== undefined) await mark.write(markText(next));
        return (next ?? found).latestMs;
      }),
    accept: () =>
      answering(async (): Promise<AcceptedClock | ClocksApart> => {
        const servers = await read();
        const [{ nowMs } = { nowMs: 0 }] = servers;
        if (!servers.every((other) => agree(other.nowMs, nowMs))) return { kind: 'apart', servers };
        const { latestMs } = readMark(await mark.read());
        await mark.write(markText({ latestMs: nowMs, wrong: undefined }));
        clocks.compare(nowMs);
        return acceptedClock(nowMs, latestMs);
      }),
  };
}

/** The clock of this machine, not judged yet. */
export function openMachineClock(): JudgedClock {
  return new JudgedClock({ wallMs: Date.now, monotonicMs: performance.now.bind(performance) });
}

function machineClock(space: RecordSpace, clock: JudgedClock): ClocksOfStore {
  return {
    clocks: clock,
    read: async () => [{ server: '', nowMs: clock.wallMs() }],
    mark: {
      read: async () => answered(await space.read(SHARED_RECORDS, [MARK]))[0],
      write: async (value) =>
        answered((await space.change(SHARED_RECORDS, [], () => ({ result: true, put: [{ ...MARK, value }] }))) ?? true),
    },
  };
}

/** Judges the machine's clock before anything goes by it; one whose time tests move as they like is always believed. */
export async function beginClock(space: RecordSpace, clock: Clock, log: Log): Promise<void> {
  if (clock instanceof JudgedClock) await beginClocks(machineClock(space, clock), log);
}

export function storeClock(space: RecordSpace, clock: Clock): StoreClock {
  if (clock instanceof JudgedClock) return judgedClock(machineClock(space, clock));
  return { step: () => undefined, look: async () => undefined, accept: async () => acceptedClock(clock.nowMs(), undefined) };
}

/** The latest time that a store has seen, and a clock that was found wrong, as integers with spaces between; what is no time is none. */
function readMark(value: string | null | undefined): ClockMark {
  const [latestMs, byMs, atMs] = (value ?? '').split(' ').map((word) => (/^-?\d{1,15}$/.test(word) ? Number(word) : undefined));
  return { latestMs, wrong: byMs === undefined || atMs === undefined ? undefined : { byMs, atMs } };
}

function markText({ latestMs = 0, wrong }: ClockMark): string {
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
    const known = wrongForMs < 2 * MARK_EVERY_MS && !this.#wasWrong ? wrong : undefined;
    this.#wasWrong = false;
    return { latestMs: nowMs, wrong: known };
  }
}

function acceptedClock(nowMs: number, latestMs: number | undefined): AcceptedClock {
  return { kind: 'accepted', nowMs, steppedMs: latestMs === undefined || agree(nowMs, latestMs) ? 0 : nowMs - latestMs };
}
