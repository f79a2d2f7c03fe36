// The clock of this machine, judged (domain/judged-clock.ts): each process reads the wall clock here and nowhere else if anything
// depends on it.
import { readFileSync } from 'node:fs';
import { JudgedClock } from '../domain/judged-clock.ts';

/** Linux's, whose monotonic clock counts from its boot in all processes. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

export function openMachineClock(): JudgedClock {
  return new JudgedClock({ wallMs: Date.now, monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n), boot: bootId() });
}

function bootId(): string {
  try {
    return readFileSync(BOOT_ID, 'utf8').trim();
  } catch {
    // Another system: a process that starts has only the store's latest time.
    return '';
  }
}
