// Ends a process with everything that it has started, also what has a group of its own or has lost its parent.
import { readdirSync, readFileSync } from 'node:fs';
import process from 'node:process';

interface Entry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
}

/** SIGKILL to the process, everything below it, and the process groups of all these. Of our own process only to what is below it. */
export function killTree(root: number): void {
  const tree = treeOf(root, processes());
  // Where there is no /proc to look in, the group that every started program leads is all that can be named.
  if (tree.length === 0 && root !== process.pid) tree.push(-root);
  for (const pid of tree) kill(pid);
}

/** Whether there is a process of this id. */
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
  // A member may be listed before the one that it belongs to.
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

/** The name, which comes in parentheses, may hold anything. */
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
    // It has ended in between.
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
