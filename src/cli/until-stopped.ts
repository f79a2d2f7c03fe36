// Keeps a gateway running until a signal, or a bug that nothing caught, asks for its end.
import process from 'node:process';
import type { App } from '../app.ts';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Resolves when the gateway has stopped. A second signal ends the process at once. */
export async function runUntilStopped(app: App, alsoStop: () => Promise<void> = () => Promise.resolve()): Promise<void> {
  await new Promise<void>((resolve) => {
    const stop = (): void => {
      for (const signal of SIGNALS) {
        process.removeAllListeners(signal);
        process.once(signal, () => process.exit(1));
      }
      resolve();
    };
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        app.log.info('stopping', { signal });
        stop();
      });
    }
    // The state behind a bug is unknown: what is in flight may end, nothing new begins, and a supervisor starts us anew.
    for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
      process.on(event, (error: unknown) => {
        app.log.error('a bug outside any request', { kind: event, name: error instanceof Error ? error.name : typeof error });
        process.exitCode = 1;
        stop();
      });
    }
  });
  await app.stop();
  await alsoStop();
}
