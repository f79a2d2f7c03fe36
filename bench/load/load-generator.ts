// The load as the bench sees it: controls load processes on the other cores and merges their results.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { startPinned } from '../machine/cores.ts';
import { Histogram } from './histogram.ts';
import type { Latency } from './histogram.ts';
import type { LoadCommand, LoadReply, LoadResult, LoadTarget } from './load-job.ts';

const PROCESS = fileURLToPath(new URL('load-process.ts', import.meta.url));

/** The merged results of all load processes. */
export interface Loaded {
  readonly answers: number;
  readonly faults: number;
  readonly fault: string | undefined;
  readonly perSecond: number;
  readonly latency: Latency;
  readonly latenessP99Ms: number;
}

export class LoadGenerator {
  readonly #processes: readonly ChildProcess[];

  constructor(cores: string, processes: number) {
    const start = (): ChildProcess => startPinned('node', [PROCESS], { cores, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    this.#processes = Array.from({ length: processes }, start);
  }

  async connect(target: LoadTarget): Promise<void> {
    await this.#tell({ kind: 'connect', target: this.#share(target) });
  }

  async closed(durationMs: number): Promise<Loaded> {
    return summarise(await this.#tell({ kind: 'closed', durationMs }));
  }

  async open(durationMs: number, perSecond: number): Promise<Loaded> {
    return summarise(await this.#tell({ kind: 'open', durationMs, perSecond: perSecond / this.#processes.length }));
  }

  async autocannon(target: LoadTarget, durationMs: number): Promise<Loaded> {
    return summarise(await this.#tell({ kind: 'autocannon', durationMs, target: this.#share(target) }));
  }

  async idle(port: number, connections: number): Promise<void> {
    await this.#tell({ kind: 'idle', port, connections: Math.ceil(connections / this.#processes.length) });
  }

  async leave(keepIdle = false): Promise<void> {
    await this.#tell({ kind: 'leave', keepIdle });
  }

  close(): void {
    for (const child of this.#processes) child.kill('SIGKILL');
  }

  #share(target: LoadTarget): LoadTarget {
    return { ...target, connections: Math.ceil(target.connections / this.#processes.length) };
  }

  #tell(command: LoadCommand): Promise<LoadResult[]> {
    return Promise.all(this.#processes.map((child) => ask(child, command))).then((all) => all.filter((result) => result !== undefined));
  }
}

async function ask(child: ChildProcess, command: LoadCommand): Promise<LoadResult | undefined> {
  if (!child.connected) throw new Error('a load process has ended');
  const ended = new AbortController();
  const end = (): void => ended.abort(new Error('a load process ended during its work'));
  child.once('exit', end);
  const answer = once(child, 'message', { signal: ended.signal });
  child.send(command);
  const [reply] = (await answer.finally(() => child.off('exit', end))) as [LoadReply];
  if (reply.kind === 'failed') throw new Error(`the load failed: ${reply.reason}`);
  return reply.result;
}

function summarise(results: readonly LoadResult[]): Loaded {
  const latencies = new Histogram();
  const lateness = new Histogram();
  let [answers, faults, perSecond] = [0, 0, 0];
  for (const result of results) {
    latencies.add(result.latencies);
    lateness.add(result.lateness);
    answers += result.answers;
    faults += result.faults;
    perSecond += (result.answers * 1000) / result.elapsedMs;
  }
  const fault = results.find((result) => result.fault !== undefined)?.fault;
  return { answers, faults, fault, perSecond, latency: latencies.summary(), latenessP99Ms: lateness.quantileMs(0.99) };
}
