// The clock of a store, its machine's or its servers'. A record has the latest time that the store has seen, by which every process
// judges, and what a wrong clock showed then, so that a process that starts does not believe it.
import { agree, JudgedClock, stepText } from '../../domain/clock-judge.ts';
import type { ClockMark } from '../../domain/clock-judge.ts';
import { answering } from '../../domain/store-unavailable.ts';
import type { AcceptedClock, Clock, ClocksApart, ClockStep, StoreClock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { RecordSpace } from '../../ports/record-space.ts';
import { RecordGroup } from './json-table.ts';

/** The clocks that a store goes by: the machine's, or those of servers. */
interface JudgedClocks {
  /** The time that is believed, once the clocks were read. */
  nowMs(): number;
  /** The clock that is furthest from it; `undefined` if all are right. */
  step(): ClockStep | undefined;
  /** Reads every clock, so that it is judged. Fails with a `StoreError`. */
  read(): Promise<ClocksApart['servers']>;
  begin(mark: ClockMark): void;
  compare(latestMs: number | undefined): void;
}

const MARK = { table: 'clock', id: 'latest' } as const;
/** How often the latest time is written to a store. */
const MARK_EVERY_MS = 60_000;
/** A clock that is this far ahead when a process starts is believed like any, but mentioned: every gateway may have been off. */
const MENTIONED_MS = 86_400_000;

/** The clock of this machine, not judged yet. */
export function openMachineClock(): JudgedClock {
  return new JudgedClock({ wallMs: Date.now, monotonicMs: performance.now.bind(performance) });
}

/** Judges the clocks before anything goes by them; one that tests move as they like is always believed. */
export async function beginClock(space: RecordSpace, clock: Clock | JudgedClocks, log: Log): Promise<void> {
  if (!isJudged(clock)) return;
  await clock.read();
  const mark = await readMark(space);
  clock.begin(mark);
  const byMs = mark.latestMs === undefined ? 0 : clock.nowMs() - mark.latestMs;
  if (byMs <= MENTIONED_MS) return;
  log.warn(`the clock is ${stepText(byMs)} the latest time of the store, and is believed`, { step_seconds: Math.round(byMs / 1000) });
}

export function storeClock(space: RecordSpace, clock: Clock | JudgedClocks): StoreClock {
  if (!isJudged(clock))
    return { step: () => undefined, look: async () => undefined, accept: async () => acceptedClock(clock.nowMs(), undefined) };
  return {
    step: () => clock.step(),
    look: () =>
      answering(async () => {
        await clock.read();
        const mark = await readMark(space);
        clock.compare(mark.latestMs);
        const [nowMs, step] = [clock.nowMs(), clock.step()];
        const isNew = nowMs >= (mark.latestMs ?? -Infinity) + MARK_EVERY_MS || (step !== undefined && mark.wrongMs === undefined);
        if (!isNew) return mark.latestMs;
        await writeMark(space, { latestMs: nowMs, wrongMs: step && nowMs + step.byMs });
        return nowMs;
      }),
    accept: () =>
      answering(async (): Promise<AcceptedClock | ClocksApart> => {
        const servers = await clock.read();
        const [{ nowMs } = { nowMs: 0 }] = servers;
        if (!servers.every((other) => agree(other.nowMs, nowMs))) return { kind: 'apart', servers };
        const { latestMs } = await readMark(space);
        await writeMark(space, { latestMs: nowMs, wrongMs: undefined });
        clock.compare(nowMs);
        return acceptedClock(nowMs, latestMs);
      }),
  };
}

function isJudged(clock: Clock | JudgedClocks): clock is JudgedClocks {
  return 'begin' in clock;
}

/** One or two integers, with a space between; what is no time is none. */
async function readMark(space: RecordSpace): Promise<ClockMark> {
  const [text = ''] = await new RecordGroup(space).read([MARK]);
  const [latestMs, wrongMs] = text.split(' ').map((word) => (/^-?\d{1,15}$/.test(word) ? Number(word) : undefined));
  return { latestMs, wrongMs };
}

async function writeMark(space: RecordSpace, { latestMs, wrongMs }: ClockMark): Promise<void> {
  const value = wrongMs === undefined ? String(latestMs) : `${latestMs} ${wrongMs}`;
  await new RecordGroup(space).write({ put: [{ ...MARK, value }] });
}

function acceptedClock(nowMs: number, latestMs: number | undefined): AcceptedClock {
  return { kind: 'accepted', nowMs, steppedMs: latestMs === undefined || agree(nowMs, latestMs) ? 0 : nowMs - latestMs };
}
