// The clock of this machine, judged (domain/clock-judge.ts): each process reads the wall clock here and nowhere else if anything
// depends on it.
import { JudgedClock } from '../domain/clock-judge.ts';

export function openMachineClock(): JudgedClock {
  return new JudgedClock({ wallMs: Date.now, monotonicMs: performance.now.bind(performance) });
}
