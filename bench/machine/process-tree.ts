// What a process and its children have used: CPU time by the scheduler's own count, and memory.
import { readFileSync, readdirSync } from 'node:fs';

/** What a process tree has used since its start. */
interface Usage {
  /** On a core, user and kernel together. */
  readonly cpuUs: number;
  /** Ready to run while another process had the core: the sign of a busy machine. */
  readonly waitedUs: number;
}

/** The process and all its descendants, at this moment. */
function processTree(root: number): number[] {
  const tree = [root];
  for (let i = 0; i < tree.length; i++) {
    for (const thread of entries(`/proc/${tree[i]}/task`)) {
      const children = text(`/proc/${tree[i]}/task/${thread}/children`).split(' ').filter(Boolean);
      tree.push(...children.map(Number));
    }
  }
  return tree;
}

/** Summed over all threads; nanosecond counts, not clock ticks. */
export function usageOf(root: number): Usage {
  let cpuNs = 0;
  let waitedNs = 0;
  for (const pid of processTree(root)) {
    for (const thread of entries(`/proc/${pid}/task`)) {
      const [onCore, waited] = text(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
      cpuNs += Number(onCore ?? 0);
      waitedNs += Number(waited ?? 0);
    }
  }
  return { cpuUs: cpuNs / 1000, waitedUs: waitedNs / 1000 };
}

type MemoryField = 'VmHWM' | 'VmRSS';

/** `VmHWM` is the peak, `VmRSS` the current value. */
export function memoryKib(root: number, field: MemoryField): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm');
  return processTree(root).reduce((sum, pid) => sum + Number(line.exec(text(`/proc/${pid}/status`))?.[1] ?? 0), 0);
}

/** A process that has ended meanwhile counts as nothing. */
function text(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim();
  } catch {
    return '';
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
