// Keeps a gateway running until a signal or a bug stops it; parts are closed in reverse order.
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { placeOf } from '../core/error-place.ts';
import type { JsonLog } from '../ops/json-log.ts';
import type { Log } from '../ports/log.ts';

/** What can be run: a gateway, or the set of its workers. */
export interface Stoppable {
  readonly log: Log;
  /** After this time the process is killed, whatever `stop` is still waiting for. */
  readonly stopWithinMs: number;
  /** What is currently being closed; `undefined` if nothing is. */
  readonly closing: string | undefined;
  stop(): Promise<void>;
  /** Hands over the log's last lines before the process exits. */
  flush(): void;
}

interface RunOptions<A> {
  /** The action on SIGHUP; without it SIGHUP ends the process, which is Node's default. */
  readonly reload?: (app: A) => Promise<void>;
  /** What to close after the gateway. */
  readonly alsoStop?: () => Promise<void>;
}

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
/** A shell and npm may both pass on a Ctrl-C: within this time a second one is the same. */
const ECHO_MS = 500;
/** What a process may take to stop beyond the time for its callers. */
const STOP_MARGIN_MS = 5_000;

/** `limits` from a configuration. */
export function stopWithinMs(limits: { readonly drain_delay_seconds: number; readonly drain_seconds: number }): number {
  return (limits.drain_delay_seconds + limits.drain_seconds) * 1000 + STOP_MARGIN_MS;
}

/**
 * Its parts are closed in reverse order when it stops or cannot be opened. One that does not close
 * is named in the log; the others are closed all the same.
 */
export async function startProcess<T extends object>(
  output: JsonLog,
  limits: Parameters<typeof stopWithinMs>[0],
  stopped: string | undefined,
  open: (down: Teardown) => Promise<T>,
): Promise<T & Stoppable> {
  const { log } = output;
  const down = new Teardown((part, error) =>
    log.error('closing failed', { part, reason: error instanceof Error ? error.message : 'unknown' }),
  );
  const stop = async (message?: string): Promise<void> => {
    await down.run();
    if (message !== undefined) log.info(message);
    output.flush();
  };
  try {
    const opened: T = await open(down);
    const stoppable: Stoppable = {
      log,
      stopWithinMs: stopWithinMs(limits),
      get closing() {
        return down.current;
      },
      flush: () => output.flush(),
      stop: () => stop(stopped),
    };
    return Object.defineProperties(opened, Object.getOwnPropertyDescriptors(stoppable)) as T & Stoppable;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Resolves when the gateway has stopped. A second signal ends the process at once. */
export async function runUntilStopped<A extends Stoppable>(start: () => Promise<A>, options: RunOptions<A> = {}): Promise<void> {
  const { reload, alsoStop } = options;
  // Before the ready line, because whoever reads it may send a signal at once.
  let hangUp = (): void => void (hungUp = true);
  let hungUp = false;
  if (reload !== undefined) process.on('SIGHUP', () => hangUp());
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
  const app = await start();
  const asked = stopAsked(app.log, SIGNALS);
  for (const signal of SIGNALS) process.off(signal, endAtOnce);
  hangUp = oneAtATime(async () => reload?.(app));
  if (hungUp) hangUp();
  app.log.info('stopping', { reason: await asked });
  await stopInTime(app, async () => {
    await app.stop();
    await alsoStop?.();
  });
}

/**
 * Stops it, and kills the process if it does not exit in time: a forgotten connection must not keep
 * it running.
 */
export async function stopInTime(app: Omit<Stoppable, 'stop'>, stop: () => Promise<void>): Promise<void> {
  const timer = setTimeout(() => {
    const held = [...new Set(process.getActiveResourcesInfo())].join(' ');
    app.log.error('the process did not end in time and is ended', { after_ms: app.stopWithinMs, closing: app.closing, held_by: held });
    app.flush();
    process.exit(1);
  }, app.stopWithinMs);
  await stop();
  // From here on, only forgotten handles keep the process running.
  timer.unref();
}

/** Signals during a reload, which takes a while, are followed by one more. */
function oneAtATime(action: () => Promise<void>): () => void {
  let running = false;
  let again = false;
  const run = async (): Promise<void> => {
    running = true;
    do {
      again = false;
      await action();
    } while (again);
    running = false;
  };
  return () => {
    if (running) again = true;
    else void run();
  };
}

/** While it starts there are no requests to wait for. */
function endAtOnce(signal: NodeJS.Signals): void {
  process.exit(128 + constants.signals[signal]);
}

/** Resolves with the reason to stop: one of the signals, or a bug. */
export function stopAsked(log: Log, signals: readonly NodeJS.Signals[]): Promise<string> {
  const asked = Promise.withResolvers<string>();
  let askedAtMs: number | undefined;
  for (const signal of signals) {
    process.on(signal, () => {
      if (askedAtMs !== undefined && performance.now() - askedAtMs > ECHO_MS) process.exit(1);
      askedAtMs ??= performance.now();
      asked.resolve(signal);
    });
  }
  // After a bug no request begins, those in flight may finish, and a supervisor restarts.
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.error('a bug outside any request', { kind: event, reason: placeOf(error) });
      process.exitCode = 1;
      asked.resolve(event);
    });
  }
  return asked.promise;
}

type Close = () => void | Promise<void>;

export class Teardown {
  readonly #closers: { readonly name: string; readonly close: Close }[] = [];
  readonly #onFailure: (name: string, error: unknown) => void;
  #running: Promise<void> | undefined;
  /** The name of the part that is being closed. To be read only. */
  current: string | undefined;

  constructor(onFailure: (name: string, error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  add(name: string, close: Close): void {
    this.#closers.push({ name, close });
  }

  /** The part itself, which is closed in its turn. */
  closing<T extends { close(): void | Promise<void> }>(name: string, part: T): T {
    this.add(name, () => part.close());
    return part;
  }

  /** Runs once, however often it is called. */
  run(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  async #run(): Promise<void> {
    for (const { name, close } of this.#closers.toReversed()) {
      this.current = name;
      try {
        await close();
      } catch (error) {
        this.#onFailure(name, error);
      }
    }
    this.current = undefined;
  }
}
