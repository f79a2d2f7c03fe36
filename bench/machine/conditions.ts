// How quiet the machine was during a measurement: CPU time taken by the hypervisor, and by other programs.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { usageOf } from './process-tree.ts';

/** In cores, on average over the observed time. */
export interface Conditions {
  /** Taken by the hypervisor for other machines. */
  readonly stolen: number;
  /** Used by processes that are not the bench's, nor started by it. */
  readonly others: number;
}

/** `/proc/stat` counts in hundredths of a second. */
const TICK_US = 10_000;

interface Reading {
  readonly atUs: number;
  readonly busyUs: number;
  readonly stolenUs: number;
  readonly oursUs: number;
}

/** Observes from now on; the returned function returns the conditions so far. */
export function watchConditions(): () => Conditions {
  const start = read();
  return () => {
    const end = read();
    const elapsedUs = end.atUs - start.atUs;
    const othersUs = end.busyUs - start.busyUs - (end.oursUs - start.oursUs);
    return { stolen: Math.max(0, end.stolenUs - start.stolenUs) / elapsedUs, others: Math.max(0, othersUs) / elapsedUs };
  };
}

function read(): Reading {
  const [user, nice, system, , , irq, softirq, steal] = readFileSync('/proc/stat', 'latin1')
    .split('\n')[0]!
    .split(/\s+/)
    .slice(1)
    .map(Number) as [number, number, number, number, number, number, number, number];
  return {
    atUs: performance.now() * 1000,
    busyUs: (user + nice + system + irq + softirq) * TICK_US,
    stolenUs: steal * TICK_US,
    oursUs: usageOf(process.pid).cpuUs,
  };
}
