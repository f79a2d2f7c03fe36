// The load, in a process of its own on the cores that are not the gateway's: wrk, autocannon, or requests at a steady rate.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileOf, outputOf } from '../../test/support/start-program.ts';
import type { Expected } from '../contestants/contestant.ts';

/** The target and the requests. Every request has the next key. */
export interface LoadTarget {
  readonly port: number;
  readonly path: string;
  readonly connections: number;
  /** Values of `Authorization`; one empty string for none. */
  readonly authorizations: readonly string[];
  readonly body: string;
  readonly expected: Expected;
}

export interface Loaded {
  /** Answers that are as expected. */
  readonly answers: number;
  /** Other answers, and connections that broke. */
  readonly faults: number;
  /** The first fault, for display. */
  readonly fault: string;
  readonly elapsedMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** What the programs in this folder read. */
export interface LoadJob extends LoadTarget {
  readonly seconds: number;
  /** Of requests that fall due, whatever was answered; 0 for a closed loop. */
  readonly perSecond: number;
}

const HERE = fileURLToPath(new URL('.', import.meta.url));

export class Load {
  readonly #cores: string;
  readonly #folder: string;
  #jobs = 0;

  constructor(cores: string, folder: string) {
    this.#cores = cores;
    this.#folder = folder;
  }

  /** As many requests in flight as there are connections. wrk leaves a core to Redis and engine; its shortest time is a second. */
  async wrk(target: LoadTarget, seconds: number): Promise<Loaded> {
    const { port, path, connections, authorizations, body, expected } = target;
    const folder = this.#next();
    const files = { path, body, expected: expected.body ?? '', authorizations: `${authorizations.join('\n')}\n` };
    for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
    const size = ['-t', '1', '-c', String(connections), '-d', `${Math.ceil(seconds)}s`];
    const script = ['-s', join(HERE, 'wrk.lua'), `http://127.0.0.1:${port}${path}`, '--', folder, ...expected.statuses.map(String)];
    return last(await outputOf('taskset', ['-c', this.#cores, fileOf('wrk'), ...size, ...script], { uses: ['wrk'] }));
  }

  /** The same with autocannon, which takes ten times the CPU of wrk from Redis and engine. */
  autocannon(target: LoadTarget, seconds: number): Promise<Loaded> {
    return this.#program('autocannon.ts', { ...target, seconds, perSecond: 0 });
  }

  /** Requests fall due at a steady rate, regardless of answers. */
  open(target: LoadTarget, seconds: number, perSecond: number): Promise<Loaded> {
    return this.#program('open-loop.ts', { ...target, seconds, perSecond });
  }

  async #program(name: string, job: LoadJob): Promise<Loaded> {
    const file = join(this.#next(), 'job.json');
    writeFileSync(file, JSON.stringify(job));
    return last(await outputOf('taskset', ['-c', this.#cores, fileOf('node'), join(HERE, name), file], { uses: ['node'] }));
  }

  #next(): string {
    const folder = join(this.#folder, `job-${this.#jobs++}`);
    mkdirSync(folder, { recursive: true });
    return folder;
  }
}

function last(output: string): Loaded {
  return JSON.parse(output.trim().split('\n').at(-1)!) as Loaded;
}
