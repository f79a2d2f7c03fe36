// Serves callers in one process: the chains, the public listener, and how they stop.
import { setTimeout as delay } from 'node:timers/promises';
import { buildChains, failuresSeen, passTraceparentOf } from './chain.ts';
import type { ChainParts } from './chain.ts';
import { filePassing, forgetfulDocuments, openDocuments, startDocuments } from './open-documents.ts';
import type { OpenDocuments, RunningDocuments } from './open-documents.ts';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { pairsOf } from '../config/engine-options.ts';
import type { Gateway } from '../core/gateway.ts';
import type { Teardown } from '../core/teardown.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { ProcessState } from './processes.ts';
import { monotonicMs, openParts } from './opened.ts';
import type { OnNewStore, Opened } from './opened.ts';
import { openGateway, startListener } from './public-listener.ts';
import type { Listening, ListenOptions, Sources } from './public-listener.ts';
import type { JsonLog } from '../ops/json-log.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { engineReadiness } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import { stopWithinMs } from './until-stopped.ts';
import { apiOptions, serverUrlOf, documentationStep } from './api-description.ts';
import { adviceFor } from '../docs/engine-advice.ts';
import { EngineTrials } from './engine-watch.ts';
import type { TriedEngine } from './engine-watch.ts';
import { pluginDocument } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { documentRouteNames } from './route-rows.ts';
import { certificateEnd, watchCertificate, tlsOf } from './certificate.ts';
import { flushWithinMs } from './configured-telemetry.ts';
import { settle, settleWithinMs, SettlementQueue } from '../runtime/settlement-queue.ts';
import type { GlossaryCache } from '../ports/glossary-store.ts';
import type { KeyCache } from '../ports/key-directory.ts';
import type { PluginApis } from '../ports/plugin-route.ts';
import type { Store } from '../ports/store.ts';
import { stepSeconds } from '../runtime/clock-watch.ts';
import { BusyTeams, LiveWindow, RecentRequests } from '../runtime/recent-traffic.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import { drain } from '../server/lifecycle.ts';
import { ListenError } from '../server/listener.ts';
import type { Listener } from '../server/listener.ts';
import { boundedGlossaries, LruGlossaryCache } from '../runtime/glossary-cache.ts';
import { LruKeyCache } from '../runtime/key-cache.ts';
import { GlossaryUpkeepTimer, Forgetting } from '../runtime/forgetting.ts';
import { KnownFullWindows, PendingRefusals } from '../runtime/refusals.ts';
import { OfferedLanguages } from '../runtime/offered-languages.ts';
import type { OfferedByConfig } from '../runtime/offered-languages.ts';
import { PlanRecord } from '../runtime/plan-record.ts';
import { RecordRefusals } from '../stores/records/record-refusals.ts';

/** More keys than can flood a process within a second. */
const FULL_WINDOWS_MAX = 10_000;
/** The entries of some hundred large glossaries, or of many small ones. */
const GLOSSARY_CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** `down` closes everything. `role` is that of the process, for its telemetry. Rejects with a `ConfigError` or `StoreError`. */
export async function openServing(
  config: Config,
  output: JsonLog,
  down: Teardown,
  role: string,
  onNewStore?: OnNewStore,
): Promise<Serving> {
  const opened = await openParts(config, output, down, role, onNewStore);
  const serving = new Serving(opened, await openDocuments(opened, process.env));
  // Before the gateway reports that it is ready, so that a command run then finds its plans in the store.
  await serving.leavePlans();
  return serving;
}

class Serving {
  readonly metrics: Metrics;
  /** For the API reference. */
  readonly pluginApis: PluginApis;
  /** For operators: without the routes' limits and caches. */
  readonly store: Store;
  readonly refusals: PendingRefusals;
  /** The time of this process that is believed. */
  readonly nowMs: () => number;
  readonly #opened: Opened;
  readonly #documents: OpenDocuments | undefined;
  readonly #live: LiveWindow;
  readonly #recent: RecentRequests;
  readonly #busy: BusyTeams;
  readonly #languages: OfferedLanguages;
  readonly #trials: EngineTrials;
  /** As of the last reload. */
  #config: Config;
  /** The URLs in the documentation; known once the listener is open. */
  #urls = { serverUrl: '', docsUrl: '' };
  readonly #planRecord: PlanRecord;
  readonly #full = new KnownFullWindows({ keysMax: FULL_WINDOWS_MAX, now: monotonicMs });
  #listener: Listener | undefined;
  #gateway: Gateway | undefined;
  #settlements: SettlementQueue | undefined;
  #worker: RunningDocuments | undefined;
  #draining: Promise<void> | undefined;
  /** When the process will be killed; known once it drains. */
  #stopByMs = Infinity;

  constructor(opened: Opened, documents: OpenDocuments | undefined) {
    this.#opened = opened;
    this.#documents = documents;
    opened.down.add('telemetry', () => opened.telemetry?.close(flushWithinMs(this.#stopByMs - monotonicMs())));
    this.nowMs = opened.nowMs;
    this.#live = new LiveWindow(opened.nowMs);
    this.#recent = new RecentRequests(opened.nowMs);
    this.#busy = new BusyTeams(opened.nowMs);
    this.#config = opened.config;
    this.metrics = opened.metrics;
    this.pluginApis = opened.plugins;
    this.store = opened.store;
    const days = new RecordRefusals(opened.store.records, opened.config.history.days);
    const refusals = new PendingRefusals({ days, nowMs: opened.nowMs });
    this.refusals = refusals;
    opened.down.add('counts of refusals', () => refusals.flush());
    const { config, engines, settings, output, down } = opened;
    const upkeep = new GlossaryUpkeepTimer({ engines: engines.byName, nowMs: opened.nowMs, log: output.log });
    down.add('glossaries at engines', () => upkeep.close());
    const forgetting = forgettingOf(opened, upkeep, documents);
    const languages = new OfferedLanguages({
      config: this.#offeredBy(config),
      engines: settings.map(({ config: { name }, can }) => ({ name, can, ask: engines.byName.get(name)!.askPairs })),
      isOne: config.engines[0]!.place === 'engine',
      log: output.log,
      adviceFor,
    });
    this.#languages = languages;
    down.add('offered languages', () => languages.close());
    const trials = new EngineTrials({ engines: this.#triedEngines(config), log: output.log });
    this.#trials = trials;
    down.add('engine trials', () => trials.close());
    this.#planRecord = new PlanRecord({ records: opened.store.gateways, file: config.file }, config.plans);
    down.add('plan record', () => this.#planRecord.close());
    down.add('forgetting', () => forgetting?.close());
    this.metrics.gauge('draining', () => Number(this.#draining !== undefined));
  }

  leavePlans(): Promise<void> {
    return this.#planRecord.leave();
  }

  /** Ready is a process whose port is open, whose store answers and has the right time, and which is not draining. */
  readiness(): Readiness {
    const { probe, clocks } = this.#opened;
    const step = clocks.step();
    return {
      ready: this.#ready(),
      store: { ok: probe.serves, cause: probe.fault?.cause },
      engines: Object.fromEntries([...this.#opened.engines.byName].map(([name, engine]) => [name, engineReadiness(engine.health())])),
      clock: step === undefined ? { ok: true } : { ok: false, step_seconds: stepSeconds(step.byMs) },
      draining: this.#draining !== undefined,
    };
  }

  #ready(): boolean {
    const { probe, clocks } = this.#opened;
    return this.#listener !== undefined && this.#draining === undefined && probe.serves && clocks.step() === undefined;
  }

  /** Opens the port; call it once. */
  async listen(options: ListenOptions): Promise<Listening> {
    const { config, output, down, metrics, plugins } = this.#opened;
    const { store } = this.#opened;
    const settlements = new SettlementQueue({
      ledger: store.ledger,
      now: monotonicMs,
      nowMs: this.nowMs,
      log: output.log,
      leaseMs: config.limits.reservation_seconds * SECOND_MS,
      onSettled: metrics.requests.settlement,
    });
    this.#settlements = settlements;
    metrics.gauge('open_settlements', () => settlements.open);
    down.add('settlements', () => settle(settlements, output.log, settleWithinMs(this.#stopByMs - monotonicMs())));
    const sources = { newId: ulidSource(this.nowMs), now: monotonicMs };
    const parts = this.#parts(settlements, sources);
    const chains = buildChains(config, plugins, parts);
    const gateway = openGateway(config, chains, output.log, sources);
    this.#gateway = gateway;
    metrics.gauge('in_flight', () => gateway.inFlight);
    // Probes and readers of the documentation must not look like traffic in the console.
    this.#live.watch(gateway.open, new Set(['GET /health', ...documentRouteNames(config, plugins)]));
    const { listener, withoutUws } = await startListener(config, gateway, options);
    this.#listener = listener;
    metrics.certificate(() => certificateEnd(this.#config));
    down.add(
      'certificate',
      watchCertificate(() => this.#config, output.log),
    );
    this.#urls = { serverUrl: serverUrlOf(config, listener.address), docsUrl: options.docsUrl };
    if (this.#documents !== undefined) {
      const { services } = chains;
      const { files } = parts.documents!;
      const use = { ...sources, files, config, metrics, store: parts.store, services, log: output.log, inFlight: () => gateway.inFlight };
      const worker = (this.#worker = startDocuments(this.#documents, use));
      down.add('documents', () => worker.close());
    }
    down.add('public listener', async () => {
      await this.drain();
      const cut = await drain({ listeners: [listener], gateway, deadlineMs: config.limits.drain_seconds * SECOND_MS });
      if (cut > 0) output.log.warn('requests cut at the drain deadline', { count: cut });
      gateway.close();
    });
    return { ...listener.address, library: listener.library, withoutUws };
  }

  /** This gateway has changed a team or a key. */
  teamsChanged(): void {
    this.#full.drop();
  }

  /** What this process reports to the operator. */
  state(): ProcessState {
    const { engines, probe, clocks } = this.#opened;
    return {
      steps: this.#live.snapshot(),
      busy: this.#busy.snapshot(),
      inFlight: this.#gateway?.inFlight ?? 0,
      openSettlements: this.#settlements?.open ?? 0,
      replicas: [...engines.byName].flatMap(([name, engine]) => engine.health().map((health) => ({ engine: name, ...health }))),
      storeAnswers: probe.answers,
      storeFault: probe.fault?.cause,
      storeTookMs: probe.tookMs,
      clockStepMs: clocks.step()?.byMs,
      draining: this.#draining !== undefined,
      plugins: this.#opened.plugins.figures(),
    };
  }

  /** Those that were refused or met a failure, newest first. */
  recentRequests(): readonly RecentRequest[] {
    return this.#recent.snapshot();
  }

  /**
   * Begins to stop: probes fail at once, and after the drain delay the port is closed. Open connections stay open. `down` begins
   * with this and does the rest.
   */
  drain(): Promise<void> {
    if (this.#draining === undefined) this.#stopByMs = monotonicMs() + stopWithinMs(this.#opened.config.limits);
    this.#draining ??= this.#stopAccepting();
    return this.#draining;
  }

  /** Applies the languages, engine replicas, pairs, routing and certificate of a configuration that has been checked. */
  replace(next: Config): void {
    for (const { name, urls } of next.engines) this.#opened.engines.byName.get(name)!.setUrls(urls);
    this.#languages.replace(this.#offeredBy(next));
    this.#trials.tryAgain();
    this.#config = next;
    this.#planRecord.replace(next.plans);
    this.#renewTls(next);
  }

  /** If the library cannot use a certificate, the old one stays; the rest of the configuration is applied all the same. */
  #renewTls(next: Config): void {
    const { log } = this.#opened.output;
    try {
      const files = tlsOf(next);
      const renewal = files && this.#listener?.renewTls(files);
      if (renewal?.changed === true) log.info('TLS: new connections get the renewed certificate', { valid_to: renewal.validTo });
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      log.error('TLS: the certificate stays as it was', { reason: error.message });
    }
  }

  /** Those that are not asked for their pairs anyway. */
  #triedEngines(config: Config): readonly TriedEngine[] {
    const { pairs } = this.#offeredBy(config);
    return [...this.#opened.engines.byName].flatMap(([name, engine]) =>
      pairs.get(name) === 'ask' && engine.askPairs !== undefined
        ? []
        : [{ name, tryAll: () => engine.tryAll(), works: () => engine.health().some(({ reached }) => reached !== false) }],
    );
  }

  #offeredBy({ languages, engines, routing }: Config): OfferedByConfig {
    const { settings } = this.#opened;
    const protocols = new Map(settings.map(({ config: { name }, protocol }) => [name, protocol]));
    return {
      table: languages,
      pairs: new Map(engines.map(({ name, pairs }) => [name, pairsOf(pairs, protocols.get(name)!)])),
      rules: routing,
    };
  }

  async #stopAccepting(): Promise<void> {
    await delay(this.#opened.config.limits.drain_delay_seconds * SECOND_MS);
    this.#listener?.stopAccepting();
  }

  #parts(settlements: SettlementQueue, sources: Sources): ChainParts {
    const { config, output, metrics, plugins, store, telemetry } = this.#opened;
    const onFailures = failuresSeen({ live: this.#live, log: output.log, now: sources.now });
    const passTraceparent = passTraceparentOf(telemetry?.tracer);
    const api = (): OpenApiOptions => apiOptions(this.#config, this.#urls, plugins);
    return {
      ...this.#opened,
      ...cachesOf(config, store, metrics),
      ...output,
      ...sources,
      full: this.#full,
      settlements,
      live: this.#live,
      recent: this.#recent,
      busy: this.#busy,
      refusals: this.refusals,
      documents: this.#documents && {
        ...this.#documents,
        plans: () => this.#config.plans,
        files: filePassing(this.#opened, this.#documents, { offers: this.#languages, onFailures, passTraceparent }),
        onCreated: () => this.#worker?.wake(),
      },
      documentation: documentationStep({ config: () => this.#config, documented: plugins, api }),
      apiDocument: (plugin) => pluginDocument(plugin, api()),
      offers: this.#languages,
      serving: () => this.#ready(),
      onFailures,
    };
  }
}

/** `undefined` if nothing besides the store has data of teams. */
function forgettingOf(
  { plugins, store, output, nowMs }: Opened,
  upkeep: GlossaryUpkeepTimer,
  opened: OpenDocuments | undefined,
): Forgetting | undefined {
  const forgetful = [...plugins.forgetful, ...upkeep.forgetful, ...(opened === undefined ? [] : [forgetfulDocuments(opened)])];
  if (forgetful.length === 0) return undefined;
  return new Forgetting({ audit: store.audit, plugins: forgetful, log: output.log, nowMs });
}

/** The store as the chain uses it, with caches for what never changes: a key's team, and a glossary's entries. */
function cachesOf(config: Config, opened: Store, metrics: Metrics): { store: Store; keys: KeyCache; glossaries: GlossaryCache } {
  const keys = new LruKeyCache({
    directory: opened.keys,
    keysMax: config.auth.key_cache_max,
    now: monotonicMs,
    onLookup: metrics.requests.keyLookup,
  });
  const cache = new LruGlossaryCache({ store: opened.glossaries, bytesMax: GLOSSARY_CACHE_BYTES_MAX });
  const store: Store = { ...opened, glossaries: boundedGlossaries(opened.glossaries, cache, config.limits.glossary_bytes) };
  return { store, keys, glossaries: cache };
}
