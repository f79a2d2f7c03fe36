// The operator's side of a gateway, once however many processes serve callers: the ops listener
// with its pages, admin API and console, the watch over all teams, the sender of events, the check
// of plans, and reloading.
import { performance } from 'node:perf_hooks';
import { adminOpenApi } from '../admin/admin-openapi.ts';
import { missingPlans, missingPlanText } from '../admin/plan-change.ts';
import { reloadOf } from '../config/changes.ts';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { formatNetworkAddress, isLoopback } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { secretsOf, sourcesOf } from '../config/secrets.ts';
import type { Secrets } from '../config/secrets.ts';
import { appsWhileOff } from '../console/console-off.ts';
import type { Teardown } from './until-stopped.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { readEngineUrl } from '../engines/http1/origin.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { startOpsListener } from '../ops/ops-listener.ts';
import type { OpsContent, OpsListener } from '../ops/ops-listener.ts';
import { json, opsPages, WAITING_CONTENT } from '../ops/ops-pages.ts';
import type { Readiness } from '../ops/ops-pages.ts';
import type { Log } from '../ports/log.ts';
import type { PluginApis } from '../ports/plugin-route.ts';
import type { RefusalDays } from '../ports/refusal-days.ts';
import type { Store } from '../ports/store.ts';
import type { TeamsNearLimits } from '../runtime/team-watch.ts';
import { EventSender, postWebhook, SEND_MS } from '../runtime/event-sender.ts';
import { TeamWatch } from '../runtime/team-watch.ts';
import { adminApps, openOperators, replaceOperators } from './admin-side.ts';
import type { OpenOperators } from './admin-side.ts';
import { apiOptions, publicUrl, serverUrlOf } from './api-description.ts';
import { withUsableTls } from './certificate.ts';
import { CLOUD_EVENT_TYPE, eventDocument } from './event-document.ts';
import type { ServingProcesses } from './processes.ts';
import type { Listening } from './public-listener.ts';
import { announceReady } from './ready-line.ts';
import { pidSpace, RELOADS_PATH } from './reload.ts';
import type { ReloadReport, Reloads } from './reload.ts';

/** What the operator's side needs of the rest of the gateway. */
export interface OperatorSideOptions {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly log: Log;
  readonly down: Teardown;
  readonly listener: OpsListener;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps: boolean;
  /** For the API reference. */
  readonly pluginApis: PluginApis;
  readonly metrics: Metrics;
  /** Without the routes' limits and caches. */
  readonly store: Store;
  readonly refusals: RefusalDays;
  /** The time of this process that is believed. */
  readonly nowMs: () => number;
  readonly processes: ServingProcesses;
}

/** Opened first, because the store may have to be waited for. Rejects with a `ListenError`. */
export async function openOpsListener({ ops }: Config, log: Log, down: Teardown): Promise<OpsListener> {
  if (!isLoopback(ops.host)) {
    log.warn('the ops listener needs no key and is not on loopback: make sure that only operators can reach it', { host: ops.host });
  }
  return down.closing('early ops listener', await startOpsListener({ host: ops.host, port: ops.port, ...WAITING_CONTENT }));
}

export class OperatorSide {
  /** The configuration in force. */
  config: Config;
  readonly ops: NetworkAddress;
  readonly opsUrl: string;
  /** The base of problem `type` URIs. */
  docsUrl = '';
  /** The URL that callers use, known once the public listener is open. */
  serverUrl = '';
  readonly #options: OperatorSideOptions;
  readonly #operators: OpenOperators | undefined;
  #reloads: Pick<Reloads, 'count' | 'latest'> = { count: 0, latest: null };

  /** Rejects with a `ConfigError` or `ListenError`. */
  static async open(options: OperatorSideOptions): Promise<OperatorSide> {
    const side = new OperatorSide(options, await openOperators(options.config, options.secrets));
    options.listener.show(side.#content());
    // Before what it shows.
    options.down.add('ops listener', () => options.listener.close());
    side.#watchTeams();
    side.#sendEvents();
    return side;
  }

  private constructor(options: OperatorSideOptions, operators: OpenOperators | undefined) {
    this.#options = options;
    this.#operators = operators;
    this.config = options.config;
    this.ops = options.listener.address;
    this.opsUrl = `http://${formatNetworkAddress(this.ops)}`;
    this.docsUrl = options.docsOnOps ? `${this.opsUrl}/docs` : this.config.service.docs_url;
  }

  /** Logs that all processes are ready. */
  announce(listening: Listening, workers: number): void {
    const { config, log } = this.#options;
    this.serverUrl = serverUrlOf(config, listening);
    void this.#checkPlans();
    announceReady(log, config, { listenUrl: publicUrl(config, listening), opsUrl: this.opsUrl, listening, workers });
  }

  /**
   * Applies what may change without a restart, and returns the names of other changed members.
   * Throws, and changes nothing, if it cannot be applied.
   */
  reload(next: Config): readonly string[] {
    for (const { urls } of next.engines) for (const url of urls) readEngineUrl(url);
    // Those of other sections are in force until a restart.
    const secrets = secretsOf({ admin: next.admin }, sourcesOf(next, process.env));
    const { config: applied, waiting } = reloadOf(this.config, next);
    const usable = withUsableTls(this.config, applied, this.#options.log);
    this.#options.processes.replace(usable);
    replaceOperators(this.#operators, secrets);
    this.config = usable;
    void this.#checkPlans();
    return waiting;
  }

  /** Called after each reload, for `lingate reload`. */
  reported(latest: ReloadReport): void {
    this.#reloads = { count: this.#reloads.count + 1, latest };
  }

  #content(): OpsContent {
    const { processes, metrics, pluginApis, docsOnOps } = this.#options;
    const config = (): Config => this.config;
    const api = (): OpenApiOptions => apiOptions(this.config, this, pluginApis);
    const readiness = (): Readiness | Promise<Readiness> => processes.readiness();
    const reloads = (): Reloads => ({ pid: process.pid, space: pidSpace(), ...this.#reloads });
    const pages = opsPages(readiness, metrics, api, [...pluginApis.documents.keys()]);
    const names = [...ownNames(this.config), this.config.ops.host];
    // A demo takes no reload: the signal would end it.
    const local = docsOnOps ? undefined : { pages: { [RELOADS_PATH]: () => json(reloads()) }, names };
    // Only if the console is on: otherwise no browser has an operator's session.
    if (this.#operators === undefined) return { pages, local, apps: appsWhileOff(() => this.config.service.name) };
    return {
      local,
      pages: { ...pages, '/admin/openapi.json': () => json(this.#adminDocument()) },
      names: ownNames(this.config),
      apps: adminApps({
        ...this.#options,
        ...this.#operators,
        config,
        docsUrl: () => this.docsUrl,
        pluginStatuses: new Map([...pluginApis.problems].map(([code, { kind }]) => [code, kind.status])),
      }),
    };
  }

  #adminDocument(): Record<string, unknown> {
    return adminOpenApi({ serviceName: this.config.service.name, serverUrl: this.opsUrl, docsUrl: this.docsUrl });
  }

  #watchTeams(): void {
    const { config, log, down, metrics, nowMs, store } = this.#options;
    if (config.team_metrics === undefined) return;
    const now = (): number => performance.now();
    const watch = new TeamWatch({ teams: store.teams, settings: config.team_metrics, log, now, wallMs: nowMs });
    readTeamMetrics(metrics, () => watch.latest, now);
    down.add('team watch', () => watch.close());
  }

  #sendEvents(): void {
    const { config, secrets, log, down, metrics, nowMs, store } = this.#options;
    const { events: key } = secrets;
    if (config.events === undefined || key === undefined) return;
    const webhook = { url: config.events.url, key, timeoutMs: SEND_MS, nowMs };
    const sender = new EventSender({
      outbox: store.outbox,
      teams: store.teams,
      log,
      now: () => performance.now(),
      send: async (event, signal) =>
        postWebhook(webhook, { id: event.id, contentType: CLOUD_EVENT_TYPE, body: JSON.stringify(eventDocument(event)) }, signal),
    });
    metrics.read('events_pending', () => sender.counts.pending);
    for (const end of ['delivered', 'failed', 'dropped'] as const) metrics.read(`events_${end}_total`, () => sender.counts[end]);
    down.add('events', () => sender.close());
  }

  /** Of each plan that teams have and the configuration lacks, in the background. */
  async #checkPlans(): Promise<void> {
    const checked = await missingPlans(this.#options.store.teams, this.config.plans);
    if (isUnavailable(checked)) return;
    for (const missing of checked.missing)
      this.#options.log.warn('teams have a plan that the configuration lacks', { ...missing, advice: missingPlanText(missing) });
  }
}

/** The configured names, and that under which browsers reach the console. */
function ownNames({ ops_names: names, admin }: Config): readonly string[] {
  return admin?.console_url === undefined ? names : [...names, new URL(admin.console_url).hostname];
}

/** `latest`: the last check of all teams; `now`: the monotonic clock by which it was made. */
function readTeamMetrics(metrics: Metrics, latest: () => TeamsNearLimits, now: () => number): void {
  const startedAtMs = now();
  metrics.read('teams', () => Object.entries(latest().counts).map(([condition, count]) => [{ condition }, count]));
  metrics.read('team_metrics_age_seconds', () => (now() - (latest().passedAtMs ?? startedAtMs)) / SECOND_MS);
  metrics.read('team_quota_used_ratio', () => latest().quota.map(({ teamId, usedRatio }) => [{ team_id: teamId }, usedRatio]));
  metrics.read('team_credit_characters', () => latest().credit.map(({ teamId, characters }) => [{ team_id: teamId }, characters]));
  metrics.read('team_key_unused_seconds', () =>
    latest().keys.map(({ teamId, keyId, unusedSeconds }) => [{ team_id: teamId, key_id: keyId }, unusedSeconds]),
  );
}
