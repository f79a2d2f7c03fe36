// The two halves of a gateway with several processes: a worker, which serves callers and follows the primary's messages, and the
// primary, which serves the operator.
import { once } from 'node:events';
import { teardownOf } from '../app/app.ts';
import type { Config } from '../config/config.ts';
import { reloadOf } from '../config/changes.ts';
import { readEngineUrl } from '../engines/http1/url.ts';
import { publicUrl, serverUrlOf } from '../app/api-description.ts';
import { openWaitingListener, startOperatorSide } from '../app/operator-side.ts';
import { openAwaited, openConfiguredStore, refusalDaysOf, SILENT } from '../app/configured-store.ts';
import { openSharedJsonLog } from '../ops/json-log.ts';
import { MergedMetrics, openPrimaryMetrics } from '../ops/metrics/merged-metrics.ts';
import type { Replaced } from '../ops/metrics/merged-metrics.ts';
import { openSnapshots, registerEventSeries, registerTeamGauges } from '../ops/metrics/scraped-series.ts';
import { openEvents, openPlanCheck, openTeamWatch } from '../app/once-per-gateway.ts';
import { openOperators, readOperators } from '../app/admin-side.ts';
import type { AdminParts } from '../app/admin-side.ts';
import type { ProcessStates } from '../app/processes.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import type { Log } from '../ports/log.ts';
import type { MetricsSnapshot } from '../ports/metric-family.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import { ClockWatch } from '../runtime/clock-watch.ts';
import { freePortOf } from '../server/listener.ts';
import { judge } from '../app/judge.ts';
import { newStoreLine } from '../app/opened.ts';
import type { OnNewStore } from '../app/opened.ts';
import { announceReady } from '../app/ready-line.ts';
import { openServing } from '../app/serving.ts';
import { withUsableTls } from '../app/certificate.ts';
import { stopWithinMs, stopAsked, stopInTime } from '../app/until-stopped.ts';
import type { Listening } from '../app/public-listener.ts';
export type { MetricsSnapshot } from '../ports/metric-family.ts';
import { ConfigError } from '../config/config-error.ts';
import { HEARTBEAT_MS, WORKER_VARIABLE } from './worker-process.ts';
import type { FromWorker, Question, StartFailure, AnswerValue, ToWorker } from './worker-process.ts';

export interface WorkerPlace {
  /** 0 picks a free one, for the first worker. */
  readonly port: number;
  /** The first worker checks that no other program uses the port. */
  readonly first: boolean;
  /** From 1. */
  readonly number: number;
}

/** What one worker process runs. */
type Worker = Awaited<ReturnType<typeof startWorker>>;

/** Rejects like `startApp`. */
async function startWorker(config: Config, { port, first, number }: WorkerPlace, onNewStore: OnNewStore) {
  const output = openSharedJsonLog();
  const down = teardownOf(output);
  const stop = async (): Promise<void> => {
    await down.run();
    output.flush();
  };
  try {
    const serving = await openServing(config, output, down, `worker-${number}`, onNewStore);
    const shared = first ? await freePortOf(config.listen.host, port) : port;
    const listening = await serving.listen({ docsUrl: config.service.docsUrl, port: shared, exclusive: false });
    const planCheck = first ? openPlanCheck(serving.store.teams, output.log) : undefined;
    planCheck?.check(config.plans);
    return {
      listening,
      log: output.log,
      readiness: () => serving.readiness(),
      snapshot: () => serving.metrics.snapshot(),
      state: () => serving.state(),
      recentRequests: () => serving.recentRequests(),
      drain: () => serving.drain(),
      replace(next: Config): void {
        serving.replace(next);
        planCheck?.check(next.plans);
      },
      teamsChanged: () => serving.teamsChanged(),
      /** These are the same as in `App`. */
      stopWithinMs: stopWithinMs(config.limits),
      get closing(): string | undefined {
        return down.closing;
      },
      flush: () => output.flush(),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The workers, as used by their primary. */
export interface WorkerSource {
  /** Of all workers together. */
  readiness(): Promise<Readiness>;
  /** From every worker that answers. */
  snapshots(): Promise<ReadonlyMap<number, MetricsSnapshot>>;
  /** From every worker that answers. */
  processes(): Promise<ProcessStates>;
  /** From every worker that answers, newest first. */
  recentRequests(): Promise<readonly RecentRequest[]>;
  /** Tells every worker that a team or a key was changed; resolves when those that serve callers know. */
  teamsChanged(): Promise<void>;
}

export type Primary = Awaited<ReturnType<typeof openPrimary>>;

/** Rejects with a `ListenError`, or a `ConfigError` for plugins. */
export async function openPrimary(config: Config, workers: WorkerSource, onNewStore: OnNewStore) {
  const output = openSharedJsonLog();
  const { log } = output;
  const merged = new MergedMetrics();
  const own = openPrimaryMetrics();
  let running = config;
  const ownMetrics = async (): Promise<MetricsSnapshot> => [...(await own.snapshot()), ...(await onStore.metrics())];
  const takeAll = async (): Promise<void> => {
    for (const [worker, snapshot] of await workers.snapshots()) merged.take(worker, snapshot);
    merged.take(process.pid, await ownMetrics());
  };
  const metrics = {
    contentType: merged.contentType,
    async render() {
      await takeAll();
      return merged.render();
    },
  };
  const { plugins: pluginApis } = await judge(config, process.env, log);
  await pluginApis.close();
  const listener = await openWaitingListener(config, log);
  const onStore = await openOnStore(config, workers, log, onNewStore).catch(async (error: unknown) => {
    await listener?.close();
    throw error;
  });
  const operator = await startOperatorSide({
    config: () => running,
    readiness: () => workers.readiness(),
    metrics,
    docsOnOps: false,
    pluginApis,
    admin: onStore.admin,
    log,
    listener,
  });
  return {
    log,
    /** The configuration that new workers start with. */
    get config(): Config {
      return running;
    },
    /** Logs that all workers are ready. */
    announce(listen: Listening, count: number): void {
      const listenUrl = publicUrl(config, listen);
      operator.serverUrl = serverUrlOf(config, listen);
      announceReady(log, config, { listenUrl, opsUrl: operator.url, listening: listen, workers: count });
    },
    /** Like `App.reload`; afterwards `config` is what to pass to the workers. */
    reload(next: Config): readonly string[] {
      // Workers do not answer a reload, so errors that one would throw are thrown here.
      for (const { urls } of next.engines) for (const url of urls) readEngineUrl(url);
      const replaceOperators = readOperators(onStore.admin, next);
      const reload = reloadOf(running, next);
      running = withUsableTls(running, reload.config, log);
      replaceOperators();
      return reload.waiting;
    },
    /** Called when a worker has ended. */
    forget: (worker: number): void => merged.retire(worker),
    replaced: (why: Replaced): void => own.replaced(why),
    flush: () => output.flush(),
    /** Call it after every worker has ended. */
    async close(): Promise<void> {
      await operator.close();
      await onStore.close();
      output.flush();
    },
  };
}

/** The primary's use of a store, for the operator only: it serves no callers. */
interface OnStore {
  readonly admin: AdminParts | undefined;
  metrics(): Promise<MetricsSnapshot>;
  close(): Promise<void>;
}

/** Opens a store of its own only if it needs one. */
async function openOnStore(config: Config, workers: WorkerSource, log: Log, onNewStore: OnNewStore): Promise<OnStore> {
  const operators = await openOperators(config);
  if (operators === undefined && config.teamMetrics === undefined && config.events === undefined) {
    return { admin: undefined, metrics: () => Promise.resolve([]), close: () => Promise.resolve() };
  }
  const opened = await openAwaited(config, log, () => openConfiguredStore(config, { onCreated: newStoreLine(log, onNewStore) }, log));
  const { store, clock } = opened;
  // The workers log what they find.
  const clocks = new ClockWatch({ clock, store: store.clock, log: SILENT });
  const { nowMs } = clock;
  const watch = openTeamWatch(config, { store, nowMs }, log);
  const events = openEvents(config, { store, nowMs }, log);
  const snapshot = openSnapshots((registry) => {
    if (watch !== undefined) registerTeamGauges(registry, watch);
    if (events !== undefined) registerEventSeries(registry, events.counts);
  });
  return {
    admin: operators && {
      ...operators,
      store,
      refusals: refusalDaysOf(store, config),
      nowMs,
      processes: () => workers.processes(),
      recentRequests: () => workers.recentRequests(),
      onChange: () => workers.teamsChanged(),
    },
    metrics: snapshot,
    async close() {
      await clocks.close();
      watch?.close();
      await events?.close();
      await opened.close();
    },
  };
}

type Start = Extract<ToWorker, { kind: 'start' }>;

export function isWorker(env: Readonly<Record<string, string | undefined>>): boolean {
  return process.send !== undefined && env[WORKER_VARIABLE] === String(process.ppid);
}

/** Resolves when the worker has stopped. `reportNewStore` is called once it is listening. */
export async function runAsWorker(reportNewStore: (place: string) => void): Promise<void> {
  // Ctrl-C and a closed terminal signal the whole process group; only the primary reacts to them.
  process.on('SIGINT', () => undefined);
  process.on('SIGHUP', () => undefined);
  sendHeartbeats();
  const start = await firstMessage();
  if (start === undefined) return;
  try {
    const made: string[] = [];
    const worker = await startWorker(start.config, start.place, (place) => void made.push(place));
    for (const place of made) reportNewStore(place);
    obey(worker);
    const asked = Promise.race([stopAsked(worker.log, ['SIGTERM']), primaryGone(worker.log)]);
    send({ kind: 'listening', listening: worker.listening });
    const reason = await asked;
    worker.log.info('a worker is stopping', { pid: process.pid, reason });
    await stopInTime(worker, () => worker.stop());
  } catch (error) {
    send({ kind: 'failed', error: failureOf(error) });
    process.exitCode = 1;
  }
  // An open channel keeps the process alive. The `disconnect` listeners go first: to them it would mean that the primary is
  // gone.
  process.removeAllListeners('disconnect');
  if (process.connected) process.disconnect();
}

/** Every second, with at most one in flight: a suspended primary reads none. */
function sendHeartbeats(): void {
  let inFlight = false;
  const sendOne = (): void => {
    if (inFlight || !process.connected) return;
    inFlight = true;
    process.send?.({ kind: 'heartbeat' } satisfies FromWorker, undefined, undefined, () => (inFlight = false));
  };
  sendOne();
  setInterval(sendOne, HEARTBEAT_MS).unref();
}

/** `undefined` if the primary is gone before it has sent anything. */
function firstMessage(): Promise<Start | undefined> {
  return new Promise((resolve) => {
    process.once('disconnect', () => resolve(undefined));
    process.once('message', (message: ToWorker) => resolve(message.kind === 'start' ? message : undefined));
  });
}

function obey(worker: Worker): void {
  process.on('message', (message: ToWorker) => {
    switch (message.kind) {
      case 'replace':
        return worker.replace(message.config);
      case 'ask':
        return void answerTo(worker, message.what).then((value) => send({ kind: 'answer', id: message.id, value }));
      case 'start':
        return undefined;
    }
  });
}

async function primaryGone(log: Log): Promise<string> {
  if (process.connected) await once(process, 'disconnect');
  log.warn('the primary process is gone: its workers stop');
  return 'primary gone';
}

async function answerTo(worker: Worker, what: Question): Promise<AnswerValue> {
  switch (what) {
    case 'ready':
      return worker.readiness();
    case 'metrics':
      return worker.snapshot();
    case 'state':
      return worker.state();
    case 'recent_requests':
      return worker.recentRequests();
    case 'teams_changed':
      worker.teamsChanged();
      return true;
    case 'drain':
      await worker.drain();
      return true;
  }
}

function send(message: FromWorker): void {
  // A primary that is gone is detected by `disconnect`.
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined);
}

function failureOf(error: unknown): StartFailure {
  if (!(error instanceof Error)) return { name: 'Error', message: String(error), lines: [] };
  return { name: error.name, message: error.message, lines: error instanceof ConfigError ? error.lines : [] };
}
