// Keeps a gateway running until a signal or a bug stops it; parts are closed in reverse order.
import { constants } from 'node:os';
import { performance } from 'node:perf_hooks';
import { placeOf } from '../core/error-place.ts';
import type { JsonLog } from '../ops/json-log.ts';
import type { Log } from '../ports/log.ts';

/** The clock of this process for everything that takes time, in milliseconds. */
export const monotonicMs: () => number = performance.now.bind(performance);

const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
/** A shell and npm may both pass on a Ctrl-C: within this time a second one is the same. */
const ECHO_MS = 500;
/** What a process may take to stop beyond the time for its callers. */
const STOP_MARGIN_MS = 5_000;

/** `limits` from a configuration. */
export function stopWithinMs(limits: { readonly drain_delay_seconds: number; readonly drain_seconds: number }): number {
  return (limits.drain_delay_seconds + limits.drain_seconds) * 1000 + STOP_MARGIN_MS;
}

type Close = () => void | Promise<void>;

/** A process, by what it has to close: a gateway, or a worker of one. */
export class ProcessLife {
  readonly output: JsonLog;
  /** After this time the process is killed, whatever is still being closed. */
  readonly #withinMs: number;
  readonly #closers: { readonly name: string; readonly close: Close }[] = [];
  /** The name of the part that is being closed. */
  #closing: string | undefined;
  #closed: Promise<void> | undefined;

  constructor(output: JsonLog, limits: Parameters<typeof stopWithinMs>[0]) {
    this.output = output;
    this.#withinMs = stopWithinMs(limits);
  }

  get log(): Log {
    return this.output.log;
  }

  add(name: string, close: Close): void {
    this.#closers.push({ name, close });
  }

  /** The part itself, which is closed in its turn. */
  closing<T extends { close(): void | Promise<void> }>(name: string, part: T): T {
    this.add(name, () => part.close());
    return part;
  }

  /**
   * Closes all, once, however often it is called. A part that does not close is named in the log;
   * the others are closed all the same. `last` is logged behind them.
   */
  async stop(last?: string): Promise<void> {
    await (this.#closed ??= this.#close());
    if (last !== undefined) this.log.info(last);
    this.output.flush();
  }

  /**
   * The same, and kills the process if it does not exit in time: a forgotten connection must not
   * keep it running.
   */
  async stopInTime(last?: string): Promise<void> {
    const timer = setTimeout(() => {
      const held = [...new Set(process.getActiveResourcesInfo())].join(' ');
      const facts = { after_ms: this.#withinMs, closing: this.#closing, held_by: held };
      this.log.error('the process did not end in time and is ended', facts);
      this.output.flush();
      process.exit(1);
    }, this.#withinMs);
    await this.stop(last);
    // From here on, only forgotten handles keep the process running.
    timer.unref();
  }

  async #close(): Promise<void> {
    for (const { name, close } of this.#closers.toReversed()) {
      this.#closing = name;
      try {
        await close();
      } catch (error) {
        this.log.error('closing failed', { part: name, reason: error instanceof Error ? error.message : 'unknown' });
      }
    }
    this.#closing = undefined;
  }
}

/** Opens what runs in `life`; what was opened is closed if something cannot be. */
export async function openIn<T>(life: ProcessLife, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    await life.stop();
    throw error;
  }
}

/**
 * Resolves when the gateway has stopped. A second signal ends the process at once. `reload` is the
 * action on SIGHUP; without it SIGHUP ends the process, which is Node's default.
 */
export async function runUntilStopped<A extends { readonly life: ProcessLife }>(
  start: () => Promise<A>,
  reload?: (app: A) => Promise<void>,
): Promise<void> {
  // Before the ready line, because whoever reads it may send a signal at once.
  let hangUp = (): void => void (hungUp = true);
  let hungUp = false;
  if (reload !== undefined) process.on('SIGHUP', () => hangUp());
  for (const signal of SIGNALS) process.on(signal, endAtOnce);
  const app = await start();
  const { log } = app.life;
  const asked = stopAsked(log, SIGNALS);
  for (const signal of SIGNALS) process.off(signal, endAtOnce);
  hangUp = oneAtATime(async () => reload?.(app));
  if (hungUp) hangUp();
  log.info('stopping', { reason: await asked });
  await app.life.stopInTime('lingate has stopped');
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
      if (askedAtMs !== undefined && monotonicMs() - askedAtMs > ECHO_MS) process.exit(1);
      askedAtMs ??= monotonicMs();
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
