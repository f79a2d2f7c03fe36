// The workers of `serve --workers N`, in the primary process: starts them, replaces those that die,
// asks them what the operator asks, and stops them all.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { MergedMetrics } from '../ops/metrics/metrics.ts';
import type { MetricsSnapshot } from '../ops/metrics/metrics.ts';
import { readinessOfAll } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { Log } from '../ports/log.ts';
import { ClockWatch } from '../runtime/clock-watch.ts';
import { newestFirst } from '../runtime/recent-traffic.ts';
import { openAwaited, openConfiguredStore, refusalDaysOf, SILENT } from './configured-store.ts';
import { judge } from './judge.ts';
import { newStoreLine } from './parts.ts';
import type { Opening, OperatorParts } from './parts.ts';
import type { ProcessStates, ServingProcesses } from './processes.ts';
import type { Listening, ListenOptions } from './public-listener.ts';
import { stopWithinMs } from './until-stopped.ts';
import { HEARTBEAT_MS, WorkerProcess } from './worker-process.ts';

/** Delay between a worker's death and its replacement, doubled with every early death. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 10_000;
/** A worker that lives longer than this counts as having started successfully. */
const SETTLED_MS = 60_000;
/**
 * A look for hung workers that is delayed this much: this process was suspended, most likely with
 * them, and their heartbeats may be unread, so none counts as hung.
 */
const DELAY_MS = 1_000;
/** How much longer than the drain delay to wait for a worker to close its port. */
const DRAIN_MARGIN_MS = 1000;
/** How long before this process itself would be killed to kill a worker that has not stopped. */
const KILL_MARGIN_MS = 500;

/** The same as for one process, for the operator: this process serves no callers. */
export async function openWorkers({ config, life, onNewStore }: Opening, count: number): Promise<Workers> {
  const { log } = life;
  const { plugins, secrets, oidc } = await judge(config, process.env, log);
  await plugins.close();
  const opened = await openAwaited(config, log, () => openConfiguredStore(config, { onCreated: newStoreLine(log, onNewStore) }, log));
  const { store, clock } = life.closing('store', opened);
  // The workers log what they find.
  life.closing('clock watch', new ClockWatch({ clock, store: store.clock, log: SILENT }));
  const refusals = refusalDaysOf(store, config);
  return new Workers({ config, life, plugins, secrets, oidc, store, refusals, nowMs: clock.nowMs }, count);
}

class Workers implements ServingProcesses {
  readonly parts: OperatorParts & { readonly metrics: MergedMetrics };
  readonly #count: number;
  readonly #log: Log;
  /** What new workers start with. */
  #config: Config;
  /** By number, starting at 1; a place is empty while its worker is being replaced. */
  readonly #workers = new Map<number, WorkerProcess>();
  readonly #stopping = new AbortController();
  #lookedAtMs = performance.now();
  #watch: NodeJS.Timeout | undefined;

  constructor(parts: Omit<OperatorParts, 'metrics'>, count: number) {
    this.parts = { ...parts, metrics: new MergedMetrics(() => this.#snapshots()) };
    this.#config = parts.config;
    this.#count = count;
    this.#log = parts.life.log;
  }

  /** Resolves when all are listening; rejects with the error of the first if they cannot. */
  async listen({ port }: ListenOptions): Promise<Listening> {
    // Before everything that serves the operator.
    this.parts.life.add('workers', () => this.#stop());
    // Runs after pending messages were read: timers run before them.
    this.#watch = setInterval(() => setImmediate(() => this.#look()), HEARTBEAT_MS).unref();
    // Also covers an abnormal exit of this process: no worker may be left behind.
    process.once('exit', () => this.#each((worker) => worker.kill('SIGKILL')));
    // One first: a gateway that cannot start fails once, and with port 0 others need its port.
    const listening = await this.#open(1, port, true).listening;
    for (let number = 2; number <= this.#count; number++) this.#open(number, listening.port);
    await Promise.all(this.#each((worker) => worker.listening));
    for (const number of this.#workers.keys()) void this.#keep(number, listening.port);
    return listening;
  }

  async readiness(): Promise<Readiness> {
    const missing = Array.from({ length: this.#count - this.#workers.size }, () => undefined);
    const all = readinessOfAll([...missing, ...(await Promise.all(this.#each((worker) => worker.ask('readiness'))))]);
    return this.#stopping.signal.aborted ? { ...all, ready: false, draining: true } : all;
  }

  async states(): Promise<ProcessStates> {
    const answers = await Promise.all(this.#each((worker) => worker.ask('states')));
    return { expected: this.#count, states: answers.flatMap((answer) => answer?.states ?? []) };
  }

  async recentRequests(): Promise<readonly RecentRequest[]> {
    const answers = await Promise.all(this.#each((worker) => worker.ask('recentRequests')));
    return newestFirst(answers.flatMap((answer) => answer ?? []));
  }

  async teamsChanged(): Promise<void> {
    await Promise.all(this.#each((worker) => worker.ask('teamsChanged')));
  }

  replace(config: Config): void {
    this.#config = config;
    this.#each((worker) => worker.send({ kind: 'replace', config }));
  }

  async #stop(): Promise<void> {
    this.#stopping.abort();
    const { limits } = this.#config;
    const killAtMs = performance.now() + stopWithinMs(limits) - KILL_MARGIN_MS;
    // All ports before any connection: a client would reconnect to another worker whose port is
    // about to close, and be reset there.
    await Promise.all(this.#each((worker) => worker.ask('drain', limits.drain_delay_seconds * SECOND_MS + DRAIN_MARGIN_MS)));
    await Promise.all(this.#each((worker) => this.#end(worker, killAtMs)));
    clearInterval(this.#watch);
  }

  async #snapshots(): Promise<ReadonlyMap<number, MetricsSnapshot>> {
    const asked = this.#each(async (worker) => [worker.pid, await worker.ask('snapshot')] as const);
    const found = await Promise.all(asked);
    return new Map(found.flatMap(([pid, snapshot]) => (pid === undefined || snapshot === undefined ? [] : [[pid, snapshot] as const])));
  }

  #open(number: number, port: number, first = false): WorkerProcess {
    const worker = new WorkerProcess(this.#config, { port, first, number });
    this.#workers.set(number, worker);
    return worker;
  }

  /** Kills, with SIGKILL, those that hang: a hung or stopped process reacts to nothing else. */
  #look(): void {
    const nowMs = performance.now();
    const isDelayed = nowMs - this.#lookedAtMs > HEARTBEAT_MS + DELAY_MS;
    this.#lookedAtMs = nowMs;
    this.#each((worker) => {
      if (isDelayed) worker.sign.atMs = nowMs;
      const silentMs = nowMs - worker.sign.atMs;
      if (worker.isHung || silentMs <= worker.sign.limitMs) return;
      worker.isHung = true;
      this.#log.error('a worker has stopped responding and is killed', { pid: worker.pid, silent_ms: Math.round(silentMs) });
      worker.kill('SIGKILL');
    });
  }

  /** Replaces a worker whenever it dies, after early deaths with a growing delay. */
  async #keep(number: number, port: number): Promise<void> {
    const { signal } = this.#stopping;
    for (let soon = 0; ;) {
      const startedAtMs = performance.now();
      const worker = this.#workers.get(number)!;
      const ended = await worker.ended;
      if (worker.pid !== undefined) this.parts.metrics.retire(worker.pid);
      if (signal.aborted) return;
      this.parts.metrics.replaced[worker.isHung ? 'hung' : 'ended'].count++;
      this.#workers.delete(number);
      soon = performance.now() - startedAtMs > SETTLED_MS ? 0 : soon + 1;
      const waitMs = Math.min(RESTART_MS * 2 ** (soon - 1), RESTART_MS_MAX);
      this.#log.error('a worker has ended and is replaced', { worker: number, pid: worker.pid, ended, in_ms: waitMs });
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#open(number, port).listening.then(
        () => this.#log.info('a worker was replaced', { worker: number }),
        (error: Error) => this.#log.error('a worker did not start', { worker: number, reason: error.message }),
      );
    }
  }

  async #end(worker: WorkerProcess, killAtMs: number): Promise<void> {
    worker.kill('SIGTERM');
    const timer = setTimeout(() => worker.kill('SIGKILL'), killAtMs - performance.now());
    const ended = await worker.ended;
    clearTimeout(timer);
    // A worker ends with SIGTERM itself only if it was not serving yet, which is not a failure.
    if (ended !== 'status 0' && ended !== 'SIGTERM') process.exitCode = 1;
  }

  #each<T>(action: (worker: WorkerProcess) => T): T[] {
    return [...this.#workers.values()].map(action);
  }
}
