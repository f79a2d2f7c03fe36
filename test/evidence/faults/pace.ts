// Paces loads: at a fixed rate that does not wait for answers, or with a fixed concurrency.
import { setTimeout as delay } from 'node:timers/promises';

const TICK_MS = 2;
/** In one turn. */
const STARTS_MAX = 50;

/**
 * Sends at a steady rate, without waiting for earlier ones to end, as long as it `goesOn`; resolves with their number when
 * all have ended.
 */
export async function openLoop(perSecond: number, goesOn: () => boolean, send: (index: number) => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  let sent = 0;
  // Ended ones are dropped: answers are as long as their texts, and runs are long on a busy machine.
  const underWay = new Set<Promise<unknown>>();
  const failures: unknown[] = [];
  const start = (): void => {
    const ended: Promise<unknown> = send(sent++).then(
      () => underWay.delete(ended),
      (error: unknown) => {
        underWay.delete(ended);
        failures.push(error);
      },
    );
    underWay.add(ended);
  };
  while (goesOn() && failures.length === 0) {
    const due = ((performance.now() - startedAtMs) * perSecond) / 1000;
    // A machine that stands still must not have to catch up in one turn: it might never end.
    const starts = Math.min(STARTS_MAX, Math.ceil(due) - sent);
    for (let i = 0; i < starts; i++) start();
    await delay(TICK_MS);
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures[0];
  return sent;
}

/** For a loop of this many iterations. */
export function times(count: number): (index: number) => boolean {
  return (index) => index < count;
}

/** For a loop of this duration. */
export function forMs(durationMs: number): () => boolean {
  const endsAtMs = performance.now() + durationMs;
  return () => performance.now() < endsAtMs;
}

/** Runs one after another, at most `parallel` at a time, as long as it `goesOn`. */
export async function closedLoop(
  goesOn: (index: number) => boolean,
  parallel: number,
  act: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (goesOn(next)) await act(next++);
  };
  await Promise.all(Array.from({ length: parallel }, work));
}

/** For a fault that lasts a fixed time by its nature, not for waiting until something has happened. */
export function lasting(durationMs: number): Promise<void> {
  return delay(durationMs);
}
