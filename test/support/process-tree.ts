// Kills a process with everything that it started, including processes in other groups and those that lost their parent.
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** Sends SIGKILL to the process, all its descendants, and the process groups of all these. Spares our own process. */
export function killTree(root: number): void {
  const tree = treeOf(root, processes());
  // Without /proc, only the process group that every started program leads is known.
  if (tree.length === 0 && root !== process.pid) tree.push(-root);
  for (const pid of tree) kill(pid);
}

/** Whether a process with this id exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function treeOf(root: number, all: readonly Entry[]): number[] {
  const below = new Set<number>();
  const belongs = ({ pid, parent, group }: Entry): boolean =>
    pid === root || parent === root || below.has(parent) || below.has(group) || (group === root && root !== process.pid);
  // A child may be listed before its parent.
  for (let sizeBefore = -1; sizeBefore < below.size;) {
    sizeBefore = below.size;
    for (const entry of all) if (entry.pid !== process.pid && belongs(entry)) below.add(entry.pid);
  }
  return [...below];
}

function processes(): Entry[] {
  return entries('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(entryOf)
    .filter((entry) => entry !== undefined);
}

/** The name, in parentheses, may contain anything. */
function entryOf(pid: string): Entry | undefined {
  const stat = text(`/proc/${pid}/stat`);
  const [, parent, group] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  return parent === undefined || group === undefined ? undefined : { pid: Number(pid), parent, group };
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}

function text(file: string): string {
  try {
    return readFileSync(file, 'latin1');
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
