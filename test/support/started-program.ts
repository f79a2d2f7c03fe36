// A program that was started: its output, whether it is ready, how it ended; it is killed when we exit.
import type { ChildProcess } from 'node:child_process';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { killTree } from './process-tree.ts';

export interface Ending {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A pattern in its output, or a check that is repeated until it returns true. */
export type Readiness = RegExp | (() => Promise<boolean>);

const SAID_MAX = 64 * 1024;
const SHOWN_MAX = 1000;
const READY_MS_MAX = 40_000;
const ASK_EVERY_MS = 20;

/** A program that was started. */
export class Program {
  /** Its name and package, as errors name it. */
  readonly title: string;
  readonly child: ChildProcess;
  /** Resolves when it has ended and all its output was read, even if it could not be started; never rejects. */
  readonly ended: Promise<Ending>;
  /** Why it could not be started. */
  failure: Error | undefined;
  #output = '';
  #over = false;
  #wake: () => void = () => undefined;

  constructor(title: string, child: ChildProcess) {
    this.title = title;
    this.child = child;
    running.add(this);
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer | string) => this.#hear(chunk.toString()));
    // Writing to a program that has ended fails; its end is reported elsewhere.
    child.stdin?.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      const end = (status: number | null, signal: NodeJS.Signals | null): void => {
        running.delete(this);
        this.#over = true;
        this.#wake();
        resolve({ status, signal });
      };
      child.once('close', end);
      child.on('error', (error) => {
        if (child.pid !== undefined) return;
        this.failure = error;
        end(null, null);
      });
    });
  }

  get pid(): number {
    if (this.child.pid === undefined) throw this.fault('could not be started');
    return this.child.pid;
  }

  /** Standard output, if it comes through a pipe. */
  get stdout(): Readable {
    if (this.child.stdout === null) throw this.fault('has no output to read');
    return this.child.stdout;
  }

  /** The last part of its output. */
  get output(): string {
    return this.#output;
  }

  /** Resolves when it is ready; rejects if it ends first or takes too long. */
  async until(ready: Readiness, msMax = READY_MS_MAX): Promise<void> {
    let delayed = false;
    const timeout = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => {
      delayed = true;
      timeout.resolve(undefined);
      this.#wake();
    }, msMax);
    try {
      for (;;) {
        const met = ready instanceof RegExp ? ready.test(this.#output) : await Promise.race([ready(), this.ended, timeout.promise]);
        if (met === true) return;
        if (this.failure !== undefined) throw this.fault(`could not be started: ${this.failure.message}`);
        if (this.#over) throw this.fault(`ended with ${this.child.exitCode ?? this.child.signalCode} before it was ready`);
        if (delayed) throw this.fault(`was not ready within ${msMax / 1000} s`);
        await this.#news();
      }
    } finally {
      clearTimeout(timer);
    }
  }

  /** Kills it and everything that it started; resolves when it is gone. */
  async end(): Promise<Ending> {
    this.kill();
    return this.ended;
  }

  kill(): void {
    if (this.child.pid !== undefined && !this.#over) killTree(this.child.pid);
  }

  /** Kills what it left behind in its process group. */
  sweep(): void {
    if (this.child.pid !== undefined) killTree(this.child.pid);
  }

  /** An error with its name, its package and its output. */
  fault(what: string): Error {
    return new Error(`${this.title} ${what}; it said: ${this.#output.slice(-SHOWN_MAX).trim() || 'nothing'}`);
  }

  #hear(text: string): void {
    this.#output = (this.#output + text).slice(-SAID_MAX);
    this.#wake();
  }

  /** Resolves when it printed something, ended, or after a moment. */
  #news(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ASK_EVERY_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

const running = new Set<Program>();

process.once('exit', killAll);
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    killAll();
    // If others listen for the signal, they decide what happens; otherwise it has its default effect.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  });
}

function killAll(): void {
  for (const program of running) program.kill();
}
