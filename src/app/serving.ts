// Serves callers in one process: the chains, the public listener, and how they stop.
import { setTimeout as delay } from 'node:timers/promises';
import { buildChains } from './chain.ts';
import type { ChainParts } from './chain.ts';
import { startDocuments } from './documents.ts';
import type { RunningDocuments } from './documents.ts';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { Gateway } from '../core/gateway.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { ProcessState, ProcessStates, ServingProcesses } from './processes.ts';
import { monotonicMs, offeredBy, openParts } from './parts.ts';
import type { Opening, ServingParts } from './parts.ts';
import { openGateway, startListener } from './public-listener.ts';
import type { Listening, ListenOptions } from './public-listener.ts';
import { engineReadiness } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import { stopWithinMs } from './until-stopped.ts';
import { apiOptions, serverUrlOf, documentationStep } from './api-description.ts';
import { pluginDocument } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { documentRouteNames } from './route-rows.ts';
import { certificateEnd, watchCertificate, tlsOf } from './certificate.ts';
import { flushWithinMs } from './configured-telemetry.ts';
import { settle, settleWithinMs, SettlementQueue } from '../runtime/settlement-queue.ts';
import { stepSeconds } from '../runtime/clock-watch.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import type { MetricsSnapshot } from '../ops/metrics/metrics.ts';
import { ListenError, drain } from '../server/listener.ts';
import type { Listener } from '../server/listener.ts';
import { boundedGlossaries, LruGlossaryCache } from '../runtime/glossary-cache.ts';
import { LruKeyCache } from '../runtime/key-cache.ts';

/** The entries of some hundred large glossaries, or of many small ones. */
const GLOSSARY_CACHE_BYTES_MAX = 64 * 1024 * 1024;

/** Rejects with a `ConfigError` or `StoreError`. */
export async function openServing(opening: Opening): Promise<Serving> {
  const serving = new Serving(await openParts(opening));
  // Before the gateway reports that it is ready, so that a command run then finds that it runs.
  await serving.parts.runningRecord.now();
  return serving;
}

/** One process that serves callers: of an operator's processes, or of a worker's primary. */
export class Serving implements ServingProcesses {
  /** As operators see them: without the routes' limits and caches. */
  readonly parts: ServingParts;
  /** As of the last reload. */
  #config: Config;
  /** The URLs in the documentation; known once the listener is open. */
  #urls = { serverUrl: '', docsUrl: '' };
  #listener: Listener | undefined;
  #gateway: Gateway | undefined;
  #settlements: SettlementQueue | undefined;
  #worker: RunningDocuments | undefined;
  #draining: Promise<void> | undefined;
  /** When the process will be killed; known once it drains. */
  #stopByMs = Infinity;

  constructor(parts: ServingParts) {
    this.parts = parts;
    this.#config = parts.config;
    parts.down.add('telemetry', () => parts.telemetry?.close(flushWithinMs(this.#stopByMs - monotonicMs())));
    parts.metrics.read('draining', () => Number(this.#draining !== undefined));
  }

  /** Its port is open, its store answers and has the right time, and it is not draining. */
  readiness(): Readiness {
    const { engines, probe, clocks } = this.parts;
    const step = clocks.step();
    return {
      ready: this.#ready(),
      store: { ok: probe.serves, cause: probe.fault?.cause },
      engines: Object.fromEntries([...engines.byName].map(([name, engine]) => [name, engineReadiness(engine.health())])),
      clock: step === undefined ? { ok: true } : { ok: false, step_seconds: stepSeconds(step.byMs) },
      draining: this.#draining !== undefined,
    };
  }

  #ready(): boolean {
    const { probe, clocks } = this.parts;
    return this.#listener !== undefined && this.#draining === undefined && probe.serves && clocks.step() === undefined;
  }

  /** Opens the port; call it once. */
  async listen(options: ListenOptions): Promise<Listening> {
    const { config, output, down, metrics, requests, plugins, store, nowMs, documents } = this.parts;
    const settlements = new SettlementQueue({
      ledger: store.ledger,
      now: monotonicMs,
      nowMs,
      log: output.log,
      leaseMs: config.limits.reservation_seconds * SECOND_MS,
      onSettled: requests.settlement,
    });
    this.#settlements = settlements;
    metrics.read('open_settlements', () => settlements.open);
    down.add('settlements', () => settle(settlements, output.log, settleWithinMs(this.#stopByMs - monotonicMs())));
    const parts = this.#chainParts(settlements);
    const chains = buildChains(parts);
    const gateway = openGateway(parts, chains);
    this.#gateway = gateway;
    metrics.read('requests_in_flight', () => gateway.inFlight);
    // Probes and readers of the documentation must not look like traffic in the console.
    this.parts.traffic.watch(gateway.open, new Set(['GET /health', ...documentRouteNames(config, plugins)]));
    const { listener, withoutUws } = await startListener(config, gateway, options);
    this.#listener = listener;
    metrics.read('tls_certificate_expiry_timestamp_seconds', () => {
      const end = certificateEnd(this.#config);
      return end === undefined ? [] : [[{ file: end.file }, end.endsMs / SECOND_MS]];
    });
    down.add(
      'certificate',
      watchCertificate(() => this.#config, output.log),
    );
    this.#urls = { serverUrl: serverUrlOf(config, listener.address), docsUrl: options.docsUrl };
    if (documents !== undefined) {
      const worker = (this.#worker = startDocuments(documents, parts, chains, () => gateway.inFlight));
      down.add('documents', () => worker.close());
    }
    down.add('public listener', async () => {
      await this.drain();
      const cut = await drain({ listener, gateway, deadlineMs: config.limits.drain_seconds * SECOND_MS });
      if (cut > 0) output.log.warn('requests cut at the drain deadline', { count: cut });
      gateway.close();
    });
    return { ...listener.address, library: listener.library, withoutUws };
  }

  /** This gateway has changed a team or a key. */
  teamsChanged(): void {
    this.parts.full.drop();
  }

  async states(): Promise<ProcessStates> {
    const { engines, probe, clocks, traffic, plugins } = this.parts;
    const state: ProcessState = {
      steps: traffic.steps(),
      busy: traffic.busy(),
      inFlight: this.#gateway?.inFlight ?? 0,
      openSettlements: this.#settlements?.open ?? 0,
      replicas: [...engines.byName].flatMap(([name, engine]) => engine.health().map((health) => ({ engine: name, ...health }))),
      storeAnswers: probe.answers,
      storeFault: probe.fault?.cause,
      storeTookMs: probe.tookMs,
      clockStepMs: clocks.step()?.byMs,
      draining: this.#draining !== undefined,
      plugins: plugins.figures(),
    };
    return { expected: 1, states: [state] };
  }

  async recentRequests(): Promise<readonly RecentRequest[]> {
    return this.parts.traffic.requests();
  }

  /** The metrics of this process. */
  snapshot(): Promise<MetricsSnapshot> {
    return this.parts.metrics.snapshot();
  }

  /**
   * Probes fail at once; after the drain delay the port is closed, but no open connection. `down`
   * begins with this.
   */
  drain(): Promise<void> {
    if (this.#draining === undefined) this.#stopByMs = monotonicMs() + stopWithinMs(this.parts.config.limits);
    this.#draining ??= this.#stopAccepting();
    return this.#draining;
  }

  /** Applies a checked configuration's languages, replicas, pairs, routing and certificate. */
  replace(next: Config): void {
    const { engines, settings, offers, trials } = this.parts;
    for (const { name, urls } of next.engines) engines.byName.get(name)!.setUrls(urls);
    offers.replace(offeredBy(next, settings));
    trials.tryAll();
    this.#config = next;
    this.#renewTls(next);
  }

  /** Without a usable certificate the old one stays; the rest is applied all the same. */
  #renewTls(next: Config): void {
    const { log } = this.parts.output;
    try {
      const files = tlsOf(next);
      const renewal = files && this.#listener?.renewTls(files);
      if (renewal?.changed === true) log.info('TLS: new connections get the renewed certificate', { valid_to: renewal.validTo });
    } catch (error) {
      if (!(error instanceof ListenError)) throw error;
      log.error('TLS: the certificate stays as it was', { reason: error.message });
    }
  }

  async #stopAccepting(): Promise<void> {
    await delay(this.parts.config.limits.drain_delay_seconds * SECOND_MS);
    this.#listener?.stopAccepting();
  }

  #chainParts(settlements: SettlementQueue): ChainParts {
    const { plugins, nowMs } = this.parts;
    const inForce = (): Config => this.#config;
    const api = (): OpenApiOptions => apiOptions(this.#config, this.#urls, plugins);
    return {
      ...this.parts,
      ...cachesOf(this.parts),
      settlements,
      inForce,
      onDocument: () => this.#worker?.wake(),
      documentation: documentationStep(inForce, plugins, api),
      apiDocument: (plugin) => pluginDocument(plugin, api()),
      serving: () => this.#ready(),
      now: monotonicMs,
      newId: ulidSource(nowMs),
    };
  }
}

/** With caches for what never changes: a key's team, and a glossary's entries. */
function cachesOf({ config, store, requests }: ServingParts) {
  const keys = new LruKeyCache({
    directory: store.keys,
    keysMax: config.auth.key_cache_max,
    now: monotonicMs,
    onLookup: requests.keyLookup,
  });
  const glossaries = new LruGlossaryCache({ store: store.glossaries, bytesMax: GLOSSARY_CACHE_BYTES_MAX });
  const bounded = boundedGlossaries(store.glossaries, glossaries, config.limits.glossary_bytes);
  return { store: { ...store, glossaries: bounded }, keys, glossaries };
}
