// Serves callers in one process: the chains, the public listener, and how they stop.
import { setTimeout as delay } from 'node:timers/promises';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import type { Gateway } from '../core/gateway.ts';
import { engineReadiness } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import type { MetricsSnapshot } from '../ops/metrics/metrics.ts';
import type { RecentRequest } from '../ports/access-entry.ts';
import { stepSeconds } from '../runtime/clock-watch.ts';
import { settle, settleWithinMs, SettlementQueue } from '../runtime/settlement-queue.ts';
import { ListenError, drain } from '../server/listener.ts';
import type { Listener } from '../server/listener.ts';
import { apiOptions, serverUrlOf } from './api-description.ts';
import { certificateEnd, watchCertificate, tlsOf } from './certificate.ts';
import { buildChains } from './chain.ts';
import type { Chains } from './chain.ts';
import { flushWithinMs } from './configured-telemetry.ts';
import { startDocuments } from './documents.ts';
import type { RunningDocuments } from './documents.ts';
import { offeredBy } from './engine-watch.ts';
import { openParts } from './parts.ts';
import type { Opening, GatewayParts } from './parts.ts';
import type { ProcessState, ProcessStates, ServingProcesses } from './processes.ts';
import { openGateway, startListener } from './public-listener.ts';
import type { Listening, ListenOptions } from './public-listener.ts';
import { documentRouteNames } from './route-rows.ts';
import { monotonicMs, stopWithinMs } from './until-stopped.ts';

/** Rejects with a `ConfigError` or `StoreError`. */
export async function openServing(opening: Opening): Promise<Serving> {
  const serving = new Serving(await openParts(opening));
  // Before the gateway reports that it is ready, so that a command run then finds that it runs.
  await serving.parts.runningRecord.now();
  return serving;
}

/** One process that serves callers: of an operator's processes, or of a worker's primary. */
export class Serving implements ServingProcesses {
  readonly parts: GatewayParts;
  /** As of the last reload. */
  #config: Config;
  /** The URLs in the documentation; known once the listener is open. */
  #urls = { serverUrl: '', docsUrl: '' };
  readonly #settlements: SettlementQueue;
  readonly #chains: Chains;
  readonly #gateway: Gateway;
  #listener: Listener | undefined;
  #worker: RunningDocuments | undefined;
  #draining: Promise<void> | undefined;
  /** When the process will be killed; known once it drains. */
  #stopByMs = Infinity;

  constructor(parts: GatewayParts) {
    const { config, life, metrics, plugins, requests, store, nowMs } = parts;
    this.parts = parts;
    this.#config = config;
    life.add('telemetry', () => parts.telemetry?.close(flushWithinMs(this.#stopByMs - monotonicMs())));
    this.#settlements = new SettlementQueue({
      ledger: store.ledger,
      now: monotonicMs,
      nowMs,
      log: life.log,
      leaseMs: config.limits.reservation_seconds * SECOND_MS,
      onSettled: requests.settlement,
    });
    this.#chains = buildChains({
      ...parts,
      settlements: this.#settlements,
      inForce: () => this.#config,
      onDocument: () => this.#worker?.wake(),
      api: () => apiOptions(this.#config, this.#urls, plugins),
      serving: () => this.#ready(),
    });
    this.#gateway = openGateway(parts, this.#chains);
    // Probes and readers of the documentation must not look like traffic in the console.
    parts.traffic.watch(this.#gateway.open, new Set(['GET /health', ...documentRouteNames(config, plugins)]));
    metrics.read('draining', () => Number(this.#draining !== undefined));
    metrics.read('open_settlements', () => this.#settlements.open);
    metrics.read('requests_in_flight', () => this.#gateway.inFlight);
    metrics.read('tls_certificate_expiry_timestamp_seconds', () => {
      const end = certificateEnd(this.#config);
      return end === undefined ? [] : [[{ file: end.file }, end.endsMs / SECOND_MS]];
    });
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

  /** Opens the port; call it once. What is opened here is closed before what serves the operator. */
  async listen(options: ListenOptions): Promise<Listening> {
    const { config, life, documents } = this.parts;
    const gateway = this.#gateway;
    life.add('settlements', () => settle(this.#settlements, life.log, settleWithinMs(this.#stopByMs - monotonicMs())));
    const { listener, withoutUws } = await startListener(config, gateway, options);
    this.#listener = listener;
    const endWatch = watchCertificate(() => this.#config, life.log);
    life.add('certificate', endWatch);
    this.#urls = { serverUrl: serverUrlOf(config, listener.address), docsUrl: options.docsUrl };
    if (documents !== undefined) {
      this.#worker = life.closing(
        'documents',
        startDocuments(documents, this.parts, this.#chains, () => gateway.inFlight),
      );
    }
    life.add('public listener', async () => {
      await this.drain();
      const cut = await drain({ listener, gateway, deadlineMs: config.limits.drain_seconds * SECOND_MS });
      if (cut > 0) life.log.warn('requests cut at the drain deadline', { count: cut });
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
      inFlight: this.#gateway.inFlight,
      openSettlements: this.#settlements.open,
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
   * Probes fail at once; after the drain delay the port is closed, but no open connection. The
   * process begins to stop with this.
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
    const { log } = this.parts.life;
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
}
