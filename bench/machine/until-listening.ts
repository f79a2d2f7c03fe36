// Waits until a port is listened on, or reads from a file which one it is.
import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const LISTENING_MS = 20_000;

/** Rejects if the process ends first, or nothing listens in time. */
export async function untilListening(port: number, child: ChildProcess, what: string): Promise<void> {
  await until(async () => ((await accepts(port)) ? port : undefined), child, what);
}

/** The port is the first group of `ready` in the file after its first `skippedBytes`; rejects as above. */
export function portTold(ready: RegExp, file: string, skippedBytes: number, child: ChildProcess, what: string): Promise<number> {
  const told = async (): Promise<number | undefined> => {
    const written = (await readFile(file)).subarray(skippedBytes);
    const port = ready.exec(written.toString())?.[1];
    return port === undefined ? undefined : Number(port);
  };
  return until(told, child, what);
}

async function until(port: () => Promise<number | undefined>, child: ChildProcess, what: string): Promise<number> {
  const endMs = performance.now() + LISTENING_MS;
  for (;;) {
    const found = await port();
    if (found !== undefined) return found;
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${what} ended before it listened`);
    if (performance.now() > endMs) throw new Error(`${what} did not listen within ${LISTENING_MS} ms`);
    await pause(20);
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const tell = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => tell(true)).once('error', () => tell(false));
  });
}
