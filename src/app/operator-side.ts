// The operator's side of a gateway, with one process or several: the ops listener and its pages.
import type { Config } from '../config/config.ts';
import { adminApps } from './admin-side.ts';
import type { AdminParts } from './admin-side.ts';
import { apiOptions } from './api-description.ts';
import { formatNetworkAddress, isLoopback } from '../config/network-address.ts';
import type { NetworkAddress } from '../config/network-address.ts';
import { appsWhileOff } from '../console/console-off.ts';
import type { LogDestination } from '../ops/json-log.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { adminOpenApi } from '../admin/admin-openapi.ts';
import { startOpsListener } from '../ops/ops-listener.ts';
import type { OpsContent, OpsListener, OpsPages } from '../ops/ops-listener.ts';
import { json, opsPages, WAITING_PAGES } from '../ops/ops-pages.ts';
import type { MetricTexts, Readiness } from '../ops/ops-pages.ts';
import type { Log } from '../ports/log.ts';
import type { PluginApis } from '../ports/plugin-route.ts';

export interface AppOptions {
  /** Where log lines go instead of standard output. */
  readonly logDestination?: LogDestination;
  /** Problem `type` URIs point to the ops listener, whatever `service.docs_url` says. */
  readonly docsOnOps?: boolean;
  readonly onNewStore?: (place: string) => void;
}

interface OperatorSideOptions {
  /** The state at the time of the request. */
  readonly config: () => Config;
  readonly readiness: () => Readiness | Promise<Readiness>;
  readonly metrics: MetricTexts;
  readonly docsOnOps: boolean;
  /** For the API reference. */
  readonly pluginApis: PluginApis;
  /** `undefined` if the admin API is off. */
  readonly admin: AdminParts | undefined;
  readonly log: Log;
  /** A listener that is already open (`openWaitingListener`). */
  readonly listener?: OpsListener | undefined;
}

interface OperatorSide {
  readonly address: NetworkAddress;
  readonly url: string;
  /** The base of problem `type` URIs. */
  readonly docsUrl: string;
  /** The URL that callers use, known once the public listener is open. */
  serverUrl: string;
  close(): Promise<void>;
}

/** Opens the ops listener first, while the store is waited for. Rejects with a `ListenError`. */
export async function openWaitingListener(config: Config, log: Log): Promise<OpsListener | undefined> {
  if (config.storeOptions.waitMs === 0) return undefined;
  return openListener(config, log, { pages: WAITING_PAGES });
}

function openListener({ ops }: Config, log: Log, content: OpsContent): Promise<OpsListener> {
  if (!isLoopback(ops.host)) {
    log.warn('the ops listener needs no key and is not on loopback: make sure that only operators can reach it', { host: ops.host });
  }
  return startOpsListener({ host: ops.host, port: ops.port, ...content });
}

/** The configured names, and that under which browsers reach the console. */
function ownNames({ opsNames, admin }: Config): readonly string[] {
  return admin?.console_url === undefined ? opsNames : [...opsNames, new URL(admin.console_url).hostname];
}

/** Rejects with a `ListenError`. */
export async function startOperatorSide(options: OperatorSideOptions): Promise<OperatorSide> {
  const { config, readiness, metrics, docsOnOps, pluginApis, admin, log } = options;
  const { service } = config();
  const api = (): OpenApiOptions => apiOptions(config(), side, pluginApis);
  const adminPages: OpsPages = {
    '/admin/openapi.json': () => json(adminOpenApi({ serviceName: config().service.name, serverUrl: side.url, docsUrl: side.docsUrl })),
  };
  const content: OpsContent = {
    pages: {
      ...opsPages({ readiness, metrics, api, documents: [...pluginApis.documents.keys()] }),
      ...(admin === undefined ? {} : adminPages),
    },
    // Host names are only checked if the console is on: otherwise no browser has an operator's session.
    names: admin === undefined ? undefined : ownNames(config()),
    apps:
      admin === undefined
        ? appsWhileOff(() => config().service.name)
        : adminApps({ ...admin, config, docsUrl: () => side.docsUrl, pluginStatuses: statusesOf(pluginApis), log }),
  };
  options.listener?.show(content);
  const listener = options.listener ?? (await openListener(config(), log, content));
  const url = `http://${formatNetworkAddress(listener.address)}`;
  const side: OperatorSide = {
    address: listener.address,
    url,
    docsUrl: docsOnOps ? `${url}/docs` : service.docsUrl,
    serverUrl: '',
    close: () => listener.close(),
  };
  return side;
}

function statusesOf({ problems }: PluginApis): ReadonlyMap<string, number> {
  return new Map([...problems].map(([code, { kind }]) => [code, kind.status]));
}
