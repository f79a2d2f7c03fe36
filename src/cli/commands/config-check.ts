// lingate config check: whether a configuration is valid, what is in force, likely mistakes.
import type { TeamsPlans } from '../../admin/plan-change.ts';
import { adviceOn } from '../../app/ready-line.ts';
import { streamingPart } from '../../app/http-library.ts';
import type { ValidSettings } from '../../app/judge.ts';
import { ConfigError } from '../../config/config-error.ts';
import type { Config } from '../../config/config.ts';
import type { EngineSettings } from '../../app/engine-settings.ts';
import { formatNetworkAddress } from '../../config/network-address.ts';
import type { NetworkAddress } from '../../config/network-address.ts';
import type { RoutingRule } from '../../domain/engine-routing.ts';
import { answered, NoStoreError, StoreError } from '../../domain/store-unavailable.ts';
import { withoutCredentials } from '../../domain/store-url.ts';
import type { ReplicaReport } from '../../app/check-replicas.ts';
import type { Command, CommandContext } from '../command.ts';
import { validConfig } from '../command.ts';
import { labelled } from '../printed.ts';

const configCheck: Command = {
  name: 'config check',
  summary: 'Checks the configuration and shows the result.',
  about:
    'It lists all faults at once. It reads the files that the configuration names, sets up plugins, compares the plans with those of ' +
    'teams in the store, and lets each engine replica translate a sentence. It changes nothing and opens no port. ' +
    'A store or an engine that cannot be used is only a warning: the exit status judges the configuration.',
  flags: { offline: { summary: 'contact neither the store nor the engines' } },
  examples: ['lingate config check --config lingate.yaml', 'lingate config check --offline --json'],
  async run(context) {
    const config = await validConfig(context);
    const { judge } = await import('../../app/judge.ts');
    const settings = await judge(config, context.io.env);
    await settings.plugins.close();
    const offline = context.on('offline');
    const forward = settings.forward.flatMap(({ methods, path }) => methods.map((method) => `${method} ${path}`));
    const [found, replicas, taken] = offline
      ? [OFFLINE, [], []]
      : await Promise.all([plansInStore(config), replicasOf(config, context), takenPorts(config)]);
    const warnings = [...adviceOn(config), ...taken, ...(await storeWarnings(found)), ...replicas.flatMap(replicaWarning)];
    const summary = {
      ...summaryOf(config),
      ...storeSummaryOf(config, found),
      ...enginesSummaryOf(config, settings.engines),
      engines_working: offline ? undefined : replicas.filter(({ ok }) => ok).map(({ url }) => url),
      // Where they are, never the secrets themselves.
      secrets_found: [...settings.engines.flatMap(({ secrets }) => secrets), ...settings.secrets.found],
      plugins: config.plugins.map(({ module }) => module),
      ...operatorsSummaryOf(config, settings),
      ...eventsSummaryOf(config),
      documents: config.documents && `in ${config.documents.folder ?? 'the store'}`,
      ...otelSummaryOf(config, settings),
      forward: forward.length === 0 ? undefined : forward,
      limits: config.limits,
    };
    context.print({ valid: true, ...summary, warnings }, () => textOf(summary, warnings));
  },
};

function summaryOf(config: Config) {
  const { service, languages } = config;
  // Only if the configuration decides it: otherwise `auto` depends on the machine.
  const why = config.listener === 'auto' ? streamingPart(config) : undefined;
  return {
    file: config.file,
    listen: formatNetworkAddress(config.listen),
    tls: config.tls?.certFile,
    ops: formatNetworkAddress(config.ops),
    public_url: service.public_url,
    docs_url: service.docs_url,
    trusted_proxies: config.listen_trusted_proxies,
    plans: [...config.plans.keys()],
    source_languages: languages.sources.length,
    target_languages: languages.targets.length,
    listener: why && 'node:http',
    listener_reason: why,
  };
}

/** Why the plans of teams were not read, in one line. */
interface Unread {
  readonly reason: string;
  /** Whether that is a fault of the store. */
  readonly isFault: boolean;
}

const OFFLINE: Unread = { reason: 'not asked, because of --offline', isFault: false };

/** Creates nothing. */
async function plansInStore(config: Config): Promise<TeamsPlans | Unread> {
  const { openPatiently } = await import('../../app/configured-store.ts');
  const { missingPlans } = await import('../../admin/plan-change.ts');
  try {
    const opened = await openPatiently(config, { mayCreate: false });
    try {
      return answered(await missingPlans(opened.store.teams, config.plans));
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (error instanceof NoStoreError) return { reason: 'there is no database there yet; "lingate serve" makes one', isFault: false };
    if (error instanceof StoreError || error instanceof ConfigError) return { reason: error.message, isFault: true };
    throw error;
  }
}

async function storeWarnings(found: TeamsPlans | Unread): Promise<readonly string[]> {
  if ('reason' in found) return found.isFault ? [`store: ${found.reason}`] : [];
  const { missingPlanText } = await import('../../admin/plan-change.ts');
  return found.missing.map(missingPlanText);
}

/** A gateway that runs with this configuration is no fault. */
async function takenPorts({ listen, ops, tls }: Config): Promise<readonly string[]> {
  const { isTaken } = await import('../running-gateway.ts');
  const [isListenTaken, isOpsTaken] = await Promise.all([
    isTaken(listen, { path: '/health', secure: tls !== undefined }, ({ headers }) => headers['x-request-id'] !== undefined),
    isTaken(ops, { path: '/livez', secure: false }, ({ headers, statusCode }) => statusCode === 200 && headers.server === undefined),
  ]);
  return [...(isListenTaken ? [takenText('listen', listen)] : []), ...(isOpsTaken ? [takenText('ops', ops)] : [])];
}

function takenText(member: string, address: NetworkAddress): string {
  return `${member}: another program listens on ${formatNetworkAddress(address)}; stop it, or choose another port`;
}

/** People wait for it. */
const ENGINE_MS_MAX = 4000;

/** As `lingate engine check`, which waits as long as a request would. */
async function replicasOf(config: Config, { io }: CommandContext): Promise<readonly ReplicaReport[]> {
  const { checkReplicas } = await import('../../app/check-replicas.ts');
  return checkReplicas(config, io.env, {}, ENGINE_MS_MAX);
}

function replicaWarning(report: ReplicaReport): readonly string[] {
  if (report.ok) return [];
  const { engine, url, failure, status, advice } = report;
  const why = failure === 'timeout' ? `it has not answered within ${ENGINE_MS_MAX / 1000} s; "lingate engine check" waits longer` : advice;
  return [`engine ${engine}: ${url} does not translate (${failure}${status === undefined ? '' : `, status ${status}`}): ${why}`];
}

function storeSummaryOf({ store }: Config, found: TeamsPlans | Unread) {
  const shown = withoutCredentials(store);
  if ('reason' in found) return { store: shown, store_read: false, store_reason: found.reason, plans_missing: [] };
  return { store: shown, store_read: true, teams_checked: found.looked, plans_missing: found.missing };
}

/** A single engine has members of its own, several are a list. */
function enginesSummaryOf({ routing }: Config, engines: readonly EngineSettings[]) {
  const [only] = engines;
  if (only!.config.place === 'engine' && routing === undefined) {
    const { protocol, urls } = only!.config;
    return { engine_protocol: protocol, engine_urls: urls, engine_options: only!.given };
  }
  return {
    engines: engines.map(({ config: { name, protocol, urls } }) => `${name} (${protocol}): ${urls.join(' ')}`),
    engine_options: engines.flatMap(({ config: { name }, given }) => given.map((option) => `${name}.${option}`)),
    routing: routing === undefined ? ['all engines in their order'] : routing.map(ruleText),
  };
}

function ruleText({ plans, pairs, engines }: RoutingRule): string {
  const parts = [plans && `plans ${plans.join(' ')}`, pairs && `pairs ${pairs.join(' ')}`].filter((part) => part !== undefined);
  return `${parts.join(', ') || 'everything else'} to ${engines.join(', then ')}`;
}

function operatorsSummaryOf({ admin }: Config, { secrets: { operators } }: ValidSettings) {
  if (operators === undefined) return { admin: 'off' };
  return { admin: 'on', operators: operators.map(({ name, role }) => `${name} (${role})`), sign_in_by: admin?.oidc?.issuer };
}

function eventsSummaryOf({ events }: Config) {
  if (events === undefined) return { events: 'off' };
  return { events: shownPlace(events.url), event_thresholds: events.rules.percents, event_credit_minor: events.rules.creditMinor };
}

/** What a variable replaces is shown as it is in force. */
function otelSummaryOf({ otel }: Config, { otel: settings }: ValidSettings) {
  if (otel === undefined) return { otel: 'off' };
  if (settings === undefined) return { otel: 'off, by a variable' };
  return {
    otel: 'on',
    otel_traces: settings.url === undefined ? 'where the variables say' : shownPlace(settings.url),
    otel_sample: settings.sample,
    otel_follow_callers: settings.followCallers,
    otel_variables: settings.variables.length === 0 ? undefined : settings.variables,
  };
}

/** Without the query, which may contain a token, and credentials. */
function shownPlace(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
}

function textOf(summary: Readonly<Record<string, unknown>>, warnings: readonly string[]): string {
  const rows = Object.entries(summary).flatMap(([name, value]) => (value === undefined ? [] : [[name, shownAs(value)] as const]));
  const said = warnings.length === 0 ? '' : `\n\nProbably not what is intended:\n${warnings.map((warning) => `- ${warning}`).join('\n')}`;
  return `The configuration is valid.\n\n${labelled(Object.fromEntries(rows))}${said}`;
}

function shownAs(value: unknown): string | number {
  if (Array.isArray(value)) return value.map(shownAs).join(', ') || 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value !== 'object' || value === null) return value as string | number;
  return Object.entries(value)
    .map(([name, one]) => `${name} ${String(one)}`)
    .join(', ');
}

export const commands = [configCheck];
