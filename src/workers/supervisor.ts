// The primary process of `serve --workers N`: starts the workers, replaces those that die, and stops them all.
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { OnNewStore } from '../app/opened.ts';
import type { ProcessStates } from '../app/processes.ts';
import { newestFirst } from '../runtime/recent-traffic.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { Listening } from '../app/public-listener.ts';
import type { Config } from '../config/config.ts';
import { openPrimary } from './worker.ts';
import type { Primary, MetricsSnapshot, WorkerPlace, WorkerSource } from './worker.ts';
import { readinessOfAll } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import type { Reloadable } from '../app/reload.ts';
import type { Log } from '../ports/log.ts';
import { stopWithinMs } from '../app/until-stopped.ts';
import type { Stoppable } from '../app/until-stopped.ts';
import { HEARTBEAT_MS, HeartbeatWatch, WorkerProcess } from './worker-process.ts';

/** Delay between a worker's death and its replacement, doubled with every early death. */
const RESTART_MS = 100;
const RESTART_MS_MAX = 10_000;
/** A worker that lives longer than this counts as having started successfully. */
const SETTLED_MS = 60_000;
/** How much longer than the drain delay to wait for a worker to close its port. */
const DRAIN_MARGIN_MS = 1000;
/** How long before this process itself would be killed to kill a worker that has not stopped. */
const KILL_MARGIN_MS = 500;

/** As in `WorkerPlace`. */
type OpenPort = Pick<WorkerPlace, 'port'> & Partial<Pick<WorkerPlace, 'first'>>;

/** Resolves when all workers are listening; rejects with the error of the first if they cannot. */
export async function startWorkers(config: Config, count: number, onNewStore?: OnNewStore): Promise<Stoppable & Reloadable> {
  const workers = new Workers();
  const primary = await openPrimary(config, workers, onNewStore);
  try {
    const listen = await workers.start(primary, count);
    primary.announce(listen, count);
  } catch (error) {
    await workers.stop();
    await primary.close();
    throw error;
  }
  return {
    log: primary.log,
    get config() {
      return primary.config;
    },
    stopWithinMs: stopWithinMs(config.limits),
    closing: 'workers',
    flush: () => primary.flush(),
    reload(next) {
      const waiting = primary.reload(next);
      workers.replace(primary.config);
      return waiting;
    },
    async stop() {
      await workers.stop();
      primary.log.info('lingate has stopped');
      await primary.close();
    },
  };
}

class Workers implements WorkerSource {
  /** By place, starting at 1; a place is empty while its worker is being replaced. */
  readonly #places = new Map<number, WorkerProcess>();
  readonly #stopping = new AbortController();
  readonly #heartbeats = new HeartbeatWatch<WorkerProcess>(
    () => performance.now(),
    (worker, silentMs) => this.#endHung(worker, silentMs),
  );
  readonly #hung = new WeakSet<WorkerProcess>();
  #watch: NodeJS.Timeout | undefined;
  #log: Log | undefined;
  #count = 0;
  #drainMs = 0;
  #stopMs = 0;

  async start(primary: Primary, count: number): Promise<Listening> {
    const { listen, limits } = primary.config;
    this.#count = count;
    this.#log = primary.log;
    this.#drainMs = limits.drainDelayMs + DRAIN_MARGIN_MS;
    this.#stopMs = stopWithinMs(limits) - KILL_MARGIN_MS;
    // Runs after pending messages were read: timers run before them.
    this.#watch = setInterval(() => setImmediate(() => this.#heartbeats.look()), HEARTBEAT_MS).unref();
    // Also covers an abnormal exit of this process: no worker may be left behind.
    process.once('exit', () => this.#each((worker) => worker.kill('SIGKILL')));
    // The first worker starts alone: a gateway that cannot start fails only once, and with port 0 the others need its port.
    const listening = await this.#open(1, primary, { port: listen.port, first: true }).listening;
    const place = { port: listening.port };
    for (let number = 2; number <= count; number++) this.#open(number, primary, place);
    await Promise.all(this.#each((worker) => worker.listening));
    for (const number of this.#places.keys()) void this.#keep(number, primary, place);
    return listening;
  }

  async readiness(): Promise<Readiness> {
    const missing = Array.from({ length: this.#count - this.#places.size }, () => undefined);
    const all = readinessOfAll([...missing, ...(await Promise.all(this.#each((worker) => worker.readiness())))]);
    return this.#stopping.signal.aborted ? { ...all, ready: false, draining: true } : all;
  }

  async snapshots(): Promise<ReadonlyMap<number, MetricsSnapshot>> {
    const found = new Map<number, MetricsSnapshot>();
    const asked = this.#each(async (worker) => {
      const snapshot = await worker.snapshot();
      if (snapshot !== undefined && worker.pid !== undefined) found.set(worker.pid, snapshot);
    });
    await Promise.all(asked);
    return found;
  }

  async processes(): Promise<ProcessStates> {
    const states = await Promise.all(this.#each((worker) => worker.state()));
    return { expected: this.#count, states: states.filter((state) => state !== undefined) };
  }

  async recentRequests(): Promise<readonly RecentRequest[]> {
    const answers = await Promise.all(this.#each((worker) => worker.recentRequests()));
    return newestFirst(answers.flatMap((answer) => answer ?? []));
  }

  async teamsChanged(): Promise<void> {
    await Promise.all(this.#each((worker) => worker.teamsChanged()));
  }

  replace(config: Config): void {
    this.#each((worker) => worker.send({ kind: 'replace', config }));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    const killAtMs = performance.now() + this.#stopMs;
    // All ports are closed before any connection: a client that loses its connection to one worker would otherwise reconnect to
    // another worker whose port is about to close, and be reset there.
    await Promise.all(this.#each((worker) => worker.drain(this.#drainMs)));
    await Promise.all(this.#each((worker) => this.#end(worker, killAtMs)));
    clearInterval(this.#watch);
  }

  #open(number: number, primary: Primary, { port, first = false }: OpenPort): WorkerProcess {
    const worker = new WorkerProcess(primary.config, { port, first, number });
    this.#places.set(number, worker);
    this.#heartbeats.add(worker);
    worker.onHeartbeat = () => this.#heartbeats.beat(worker);
    void worker.ended.then(() => this.#heartbeats.remove(worker));
    return worker;
  }

  /** With SIGKILL: a hung or stopped process reacts to nothing else. */
  #endHung(worker: WorkerProcess, silentMs: number): void {
    this.#hung.add(worker);
    this.#log?.error('a worker has stopped responding and is killed', { pid: worker.pid, silent_ms: Math.round(silentMs) });
    worker.kill('SIGKILL');
  }

  /** Replaces the worker of a place whenever it dies, with a growing delay after early deaths to avoid a crash loop. */
  async #keep(number: number, primary: Primary, place: OpenPort): Promise<void> {
    const { signal } = this.#stopping;
    for (let soon = 0; ;) {
      const startedAtMs = performance.now();
      const worker = this.#places.get(number)!;
      const ended = await worker.ended;
      if (worker.pid !== undefined) primary.forget(worker.pid);
      if (signal.aborted) return;
      primary.replaced(this.#hung.has(worker) ? 'hung' : 'ended');
      this.#places.delete(number);
      soon = performance.now() - startedAtMs > SETTLED_MS ? 0 : soon + 1;
      const waitMs = Math.min(RESTART_MS * 2 ** (soon - 1), RESTART_MS_MAX);
      primary.log.error('a worker has ended and is replaced', { worker: number, pid: worker.pid, ended, in_ms: waitMs });
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.#open(number, primary, place).listening.then(
        () => primary.log.info('a worker was replaced', { worker: number }),
        (error: Error) => primary.log.error('a worker did not start', { worker: number, reason: error.message }),
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
    return [...this.#places.values()].map(action);
  }
}
