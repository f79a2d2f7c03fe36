// The CPU time of a gateway's process, as the system counts it, so that other users of the machine do not matter.
import { readFile, readdir } from 'node:fs/promises';

/** All threads of the process together, in milliseconds. */
export async function processorMs(pid: number): Promise<number> {
  const tasks = await readdir(`/proc/${pid}/task`);
  const times = await Promise.all(
    tasks.map(async (task) => Number((await readFile(`/proc/${pid}/task/${task}/schedstat`, 'utf8')).split(' ')[0])),
  );
  return times.reduce((sum, ns) => sum + ns, 0) / 1e6;
}

/** The thread of the event loop alone. */
export async function loopThreadMs(pid: number): Promise<number> {
  return Number((await readFile(`/proc/${pid}/schedstat`, 'utf8')).split(' ')[0]) / 1e6;
}
