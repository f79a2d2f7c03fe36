// Waits until somebody listens on a port.
import type { ChildProcess } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

const LISTENING_MS = 20_000;

/** Rejects when the process ends first, or nothing listens in time. */
export async function untilListening(port: number, child: ChildProcess, what: string): Promise<void> {
  const until = performance.now() + LISTENING_MS;
  while (!(await accepts(port))) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${what} ended before it listened`);
    if (performance.now() > until) throw new Error(`${what} did not listen within ${LISTENING_MS} ms`);
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
