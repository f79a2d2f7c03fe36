// The operator's side of a gateway, once however many processes serve callers: the ops listener
// with its pages, admin API and console, the watch over all teams, the sender of events, the check
// of plans, and reloading.
import { adminOpenApi } from '../admin/admin-openapi.ts';
import { Operators } from '../admin/operators.ts';
import { missingPlans, missingPlanText } from '../admin/plan-change.ts';
import { reloadOf } from '../config/changes.ts';
import { SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { formatNetworkAddress, isLoopback } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { secretsOf, sourcesOf } from '../config/secrets.ts';
import type { Secrets } from '../config/secrets.ts';
import { appsWhileOff } from '../console/console-off.ts';
import { monotonicMs as now } from './until-stopped.ts';
import type { ProcessLife } from './until-stopped.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { readEngineUrl } from '../engines/http1/origin.ts';
import type { Metrics } from '../ops/metrics/metrics.ts';
import { startOpsListener } from '../ops/ops-listener.ts';
import type { OpsContent, OpsListener } from '../ops/ops-listener.ts';
import { json, opsPages, WAITING_CONTENT } from '../ops/ops-pages.ts';
import type { Log } from '../ports/log.ts';
import type { TeamsNearLimits } from '../runtime/team-watch.ts';
import { EventSender, postWebhook, SEND_MS } from '../runtime/event-sender.ts';
import { TeamWatch } from '../runtime/team-watch.ts';
import { adminApps } from './admin-side.ts';
import { apiOptions, publicUrl, serverUrlOf } from './api-description.ts';
import { withUsableTls } from './certificate.ts';
import { CLOUD_EVENT_TYPE, eventDocument } from './event-document.ts';
import type { OperatorParts } from './parts.ts';
import type { ServingProcesses } from './processes.ts';
import type { Listening } from './public-listener.ts';
import { announceReady } from './ready-line.ts';
import { pidSpace, RELOADS_PATH } from './reload.ts';
import type { ReloadReport, Reloads } from './reload.ts';

interface OperatorSideOptions extends OperatorParts {
  readonly listener: OpsListener;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps: boolean;
  readonly processes: ServingProcesses;
}

/** Opened first, because the store may have to be waited for. Rejects with a `ListenError`. */
export async function openOpsListener({ ops }: Config, log: Log, life: ProcessLife): Promise<OpsListener> {
  if (!isLoopback(ops.host)) {
    log.warn('the ops listener needs no key and is not on loopback: make sure that only operators can reach it', { host: ops.host });
  }
  return life.closing('early ops listener', await startOpsListener({ host: ops.host, port: ops.port, ...WAITING_CONTENT }));
}

export class OperatorSide {
  /** The configuration in force. */
  config: Config;
  readonly ops: NetworkAddress;
  readonly opsUrl: string;
  /** The base of problem `type` URIs. */
  readonly docsUrl: string;
  /** The URL that callers use, known once the public listener is open. */
  serverUrl = '';
  readonly #options: OperatorSideOptions;
  readonly #log: Log;
  /** `undefined` if admin API and console are off. */
  readonly #operators: Operators | undefined;
  #reloads: Pick<Reloads, 'count' | 'latest'> = { count: 0, latest: null };

  constructor(options: OperatorSideOptions) {
    const { config, secrets, oidc, listener, life } = options;
    this.#options = options;
    this.#log = life.log;
    this.#operators = secrets.operators && new Operators(secrets.operators, oidc?.settings);
    this.config = config;
    this.ops = listener.address;
    this.opsUrl = `http://${formatNetworkAddress(this.ops)}`;
    this.docsUrl = options.docsOnOps ? `${this.opsUrl}/docs` : config.service.docs_url;
    listener.show(this.#content());
    // Before what it shows.
    life.add('ops listener', () => listener.close());
    this.#watchTeams();
    this.#sendEvents();
  }

  /** Logs that all processes are ready. */
  announce(listening: Listening, workers: number): void {
    const { config } = this.#options;
    this.serverUrl = serverUrlOf(config, listening);
    void this.#checkPlans();
    announceReady(this.#log, config, { listenUrl: publicUrl(config, listening), opsUrl: this.opsUrl, listening, workers });
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
    const usable = withUsableTls(this.config, applied, this.#log);
    this.#options.processes.replace(usable);
    this.#replaceOperators(secrets);
    this.config = usable;
    void this.#checkPlans();
    return waiting;
  }

  /** Called after each reload, for `lingate reload`. */
  reported(latest: ReloadReport): void {
    this.#reloads = { count: this.#reloads.count + 1, latest };
  }

  /**
   * A provider, and the console's URL, are decided at the start. Without the section everything
   * stays as it is.
   */
  #replaceOperators({ operators, oidc: settings }: Secrets): void {
    const { oidc } = this.#options;
    if (oidc !== undefined) oidc.settings = { ...(settings ?? oidc.settings), consoleUrl: oidc.settings.consoleUrl };
    if (operators !== undefined) this.#operators?.replace(operators, oidc?.settings);
  }

  #content(): OpsContent {
    const { processes, metrics, plugins, docsOnOps } = this.#options;
    const api = (): OpenApiOptions => apiOptions(this.config, this, plugins);
    const reloads = (): Reloads => ({ pid: process.pid, space: pidSpace(), ...this.#reloads });
    const pages = opsPages(() => processes.readiness(), metrics, api, [...plugins.documents.keys()]);
    const names = [...ownNames(this.config), this.config.ops.host];
    // A demo takes no reload: the signal would end it.
    const local = docsOnOps ? undefined : { pages: { [RELOADS_PATH]: () => json(reloads()) }, names };
    // Only if the console is on: otherwise no browser has an operator's session.
    const operators = this.#operators;
    if (operators === undefined) return { pages, local, apps: appsWhileOff(() => this.config.service.name) };
    return {
      local,
      pages: { ...pages, '/admin/openapi.json': () => json(this.#adminDocument()) },
      names: ownNames(this.config),
      apps: adminApps({
        ...this.#options,
        operators,
        log: this.#log,
        config: () => this.config,
        docsUrl: () => this.docsUrl,
        pluginStatuses: new Map([...plugins.problems].map(([code, { kind }]) => [code, kind.status])),
      }),
    };
  }

  #adminDocument(): Record<string, unknown> {
    return adminOpenApi({ serviceName: this.config.service.name, serverUrl: this.opsUrl, docsUrl: this.docsUrl });
  }

  #watchTeams(): void {
    const { config, life, metrics, nowMs, store } = this.#options;
    if (config.team_metrics === undefined) return;
    const settings = config.team_metrics;
    const watch = life.closing('team watch', new TeamWatch({ teams: store.teams, settings, log: this.#log, now, wallMs: nowMs }));
    readTeamMetrics(metrics, () => watch.latest);
  }

  #sendEvents(): void {
    const { config, secrets, life, metrics, nowMs, store } = this.#options;
    const { events: key } = secrets;
    if (config.events === undefined || key === undefined) return;
    const webhook = { url: config.events.url, key, timeoutMs: SEND_MS, nowMs };
    const sender = new EventSender({
      outbox: store.outbox,
      teams: store.teams,
      log: this.#log,
      now,
      send: async (event, signal) =>
        postWebhook(webhook, { id: event.id, contentType: CLOUD_EVENT_TYPE, body: JSON.stringify(eventDocument(event)) }, signal),
    });
    metrics.read('events_pending', () => sender.counts.pending);
    for (const end of ['delivered', 'failed', 'dropped'] as const) metrics.read(`events_${end}_total`, () => sender.counts[end]);
    life.closing('events', sender);
  }

  /** Of each plan that teams have and the configuration lacks, in the background. */
  async #checkPlans(): Promise<void> {
    const checked = await missingPlans(this.#options.store.teams, this.config.plans);
    if (isUnavailable(checked)) return;
    for (const missing of checked.missing)
      this.#log.warn('teams have a plan that the configuration lacks', { ...missing, advice: missingPlanText(missing) });
  }
}

/** The configured names, and that under which browsers reach the console. */
function ownNames({ ops_names: names, admin }: Config): readonly string[] {
  return admin?.console_url === undefined ? names : [...names, new URL(admin.console_url).hostname];
}

/** `latest`: the last check of all teams. */
function readTeamMetrics(metrics: Metrics, latest: () => TeamsNearLimits): void {
  const startedAtMs = now();
  metrics.read('teams', () => Object.entries(latest().counts).map(([condition, count]) => [{ condition }, count]));
  metrics.read('team_metrics_age_seconds', () => (now() - (latest().passedAtMs ?? startedAtMs)) / SECOND_MS);
  metrics.read('team_quota_used_ratio', () => latest().quota.map(({ teamId, usedRatio }) => [{ team_id: teamId }, usedRatio]));
  metrics.read('team_credit_characters', () => latest().credit.map(({ teamId, characters }) => [{ team_id: teamId }, characters]));
  metrics.read('team_key_unused_seconds', () =>
    latest().keys.map(({ teamId, keyId, unusedSeconds }) => [{ team_id: teamId, key_id: keyId }, unusedSeconds]),
  );
}
