// Creates the steps, and puts them, with plugins', into the routes' chains.
import { longestTimeoutMs, SECOND_MS } from '../config/config.ts';
import type { Config } from '../config/config.ts';
import { compileRoute, routeName, specOf } from '../core/route.ts';
import type { RouteSpec } from '../core/route.ts';
import type { Step } from '../core/pipeline.ts';
import { credentialReader } from '../domain/api-key.ts';
import { chargeSlot, judgeAgainSlot } from '../domain/slots.ts';
import { anyOf } from '../domain/translation-options.ts';
import { offerFor, refusalFor } from '../domain/engine-offer.ts';
import type { Languages } from '../domain/languages.ts';
import { traceparentForward, traceparentUnsampled } from '../domain/request-trace.ts';
import { glossarySteps } from '../endpoints/glossary-endpoints.ts';
import { healthEndpoint, languagesEndpoint, usageEndpoint } from '../endpoints/read-endpoints.ts';
import type { AttemptFailure } from '../ports/engine.ts';
import type { Admission, CheckedCaller, Settlements } from '../ports/ledger.ts';
import type { RefusalCounter } from '../ports/usage-history.ts';
import type { GatewayServices } from '../ports/gateway-services.ts';
import type { DocumentStepName, PluginStepName, StepName } from '../routes.ts';
import { accessLogStep } from '../steps/access-log.ts';
import { admitStep } from '../steps/admit.ts';
import { authenticateBodyKeyStep, authenticateStep, identifyBy, identifyStep } from '../steps/caller.ts';
import type { AuthenticateOptions } from '../steps/caller.ts';
import { AddressLimit } from '../runtime/refusals.ts';
import { QuotaAlarm } from '../runtime/failure-log.ts';
import { detectBy, readStep, translateBy, translateStep } from '../steps/translate.ts';
import { LoopPressure, shedStep, teamShedStep } from '../steps/shed.ts';
import type { TranslateOptions } from '../steps/translate.ts';
import { pluginDocument } from '../docs/openapi-document.ts';
import type { OpenApiOptions } from '../docs/openapi-document.ts';
import { documentationStep } from './api-description.ts';
import { buildDocuments } from './documents.ts';
import type { BuiltDocuments } from './documents.ts';
import { stepsOfPlugins, inConfiguration, routeRows } from './route-rows.ts';
import { chargedAdmission, forwardStep } from '../forward/forward-step.ts';
import type { GatewayParts } from './parts.ts';
import { monotonicMs as now } from './until-stopped.ts';

/** What the steps need. They only keep references until the first request. */
export interface ChainParts extends GatewayParts {
  readonly settlements: Settlements;
  /** The configuration as of the last reload. */
  readonly inForce: () => Config;
  /** A document waits. */
  readonly onDocument: () => void;
  /** The API as the documentation describes it. */
  readonly api: () => OpenApiOptions;
  /** Whether the store answers and the gateway is not draining. */
  readonly serving: () => boolean;
}

/** The routes with their steps, and the steps that also run for requests without a route. */
export interface Chains {
  readonly routes: readonly RouteSpec[];
  readonly around: readonly Step[];
  readonly services: GatewayServices;
  readonly documents: BuiltDocuments | undefined;
}

/** Throws a `ConfigError` if a plugin's step or route cannot be placed. */
export function buildChains(parts: ChainParts): Chains {
  const { config, plugins, dictionaries, inForce } = parts;
  const use = engineUsers(parts);
  const translate: TranslateOptions = { ...use, engine: parts.engines, glossaries: dictionaries, stages: plugins.textStages, now };
  const documents = parts.documents && buildDocuments(parts.documents, parts, use);
  const own = stepsOf(parts, translate);
  const ofDocuments: Readonly<Partial<Record<DocumentStepName, Step>>> = documents?.steps ?? {};
  const others = [
    ...(config.docs.public ? [documentationStep(inForce, plugins, parts.api)] : []),
    ...plugins.placements.map(({ step }) => step),
  ];
  const shared = new Map<string, Step>([
    ...Object.entries(own),
    ...Object.entries(ofDocuments),
    ...others.map((step) => [step.name, step] as const),
  ]);
  const services = servicesOf(parts, translate, documents?.services);
  const ofPlugins = stepsOfPlugins(plugins, services, shared);
  const ofForward = stepsOfForward(parts, use, own.admit, shared);
  const rows = routeRows(config, plugins);
  const routes = inConfiguration(() =>
    rows.map((row) => compileRoute(specOf(row, ('plugin' in row ? ofPlugins.get(row.plugin) : ofForward.get(routeName(row))) ?? shared))),
  );
  return { routes, around: [own['access-log']], services, documents };
}

/** What all have in common who send something to an engine. */
export type EngineUsers = ReturnType<typeof engineUsers>;

function engineUsers({ caps, offers, traffic, telemetry, life: { log } }: ChainParts) {
  const quotaAlarm = new QuotaAlarm(log, now);
  return {
    offers,
    /** `undefined` if no engine is limited. */
    isSpent: caps.isEmpty ? undefined : (name: string): boolean => caps.isSpent(name),
    // A gateway that samples decides on the flag; otherwise it is the caller's.
    passTraceparent: telemetry === undefined ? traceparentForward : traceparentUnsampled,
    onFailures(failures: readonly AttemptFailure[]): void {
      // A caller who has left is no failure of the engine's, nor is a file that it does not take.
      const count = failures.filter((failure) => failure !== 'cancelled' && failure !== 'file_refused').length;
      if (count > 0) traffic.engineFailures(count);
      if (failures.includes('engine_quota')) quotaAlarm.ring();
    },
  };
}

/** A name or address, with a port or without. */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?$/i;

function servicesOf(parts: ChainParts, translate: TranslateOptions, documents: GatewayServices['documents']): GatewayServices {
  const { config } = parts;
  return {
    credentials: credentialReader(config.auth.vendor_names),
    engineCan: anyOf(parts.settings.map(({ can }) => can)),
    engineTimeoutMs: longestTimeoutMs(config.engines),
    bodyBytesMax: config.limits.body_bytes,
    glossaries: parts.glossaries,
    mergedGlossary: (teamId, dictionaryIds) => parts.dictionaries.merged(teamId, dictionaryIds),
    teams: parts.store.teams,
    tags: parts.store.tags,
    languages: (x) => (x === undefined ? parts.offers.current.any : offerFor(x, parts.offers.current)).languages,
    engineCanFor(x, sourceLang, targetLang, wants) {
      const offer = offerFor(x, parts.offers.current);
      return targetLang === undefined ? offer.can : offer.canFor(sourceLang, targetLang, wants);
    },
    refusalFor: (x, options, hasGlossary) => refusalFor(offerFor(x, parts.offers.current), options, hasGlossary),
    judgeAgain(x, judge) {
      if (parts.offers.current.byPlan) x.set(judgeAgainSlot, { refusal: x.get(chargeSlot)?.refusal, judge });
    },
    identify: identifyBy(parts.keys),
    translate: translateBy(translate),
    detect: detectBy(translate),
    documents,
    apiDocument: (plugin) => pluginDocument(plugin, parts.api()),
    addressFor(x) {
      if (config.service.public_url !== undefined) return config.service.public_url;
      const { host } = x.head.headers;
      return host === undefined || !HOST.test(host)
        ? ''
        : `${config.tls !== undefined || parts.client.saysTls(x) ? 'https' : 'http'}://${host}`;
    },
    newId: parts.newId,
    now,
  };
}

function stepsOf(parts: ChainParts, translate: TranslateOptions): Readonly<Record<StepName | PluginStepName, Step>> {
  const { config, store, keys, requests, offers, client, glossaries } = parts;
  const languages = (): Languages => offers.current.any.languages;
  const onShed = requests.shed;
  const authentication: AuthenticateOptions = {
    cache: keys,
    ledger: store.ledger,
    full: parts.full,
    rateLimitHeaders: config.limits.rate_limit_headers,
    now,
    client,
    bound: addressBoundOf(config),
    onRefused(checked, teamId) {
      requests.check(checked);
      countRefusal(parts.refusals, checked, teamId);
    },
  };
  return {
    'access-log': accessLogStep({
      logs: [requests, parts.traffic],
      written: parts.life.output.access,
      quietPaths: new Set(config.listen_quiet_paths),
      now,
      client: config.listen_trusted_proxies.length === 0 ? undefined : client,
      tracer: parts.telemetry?.tracer,
    }),
    shed: shedStep({
      concurrencyMax: config.limits.concurrency,
      pressure: new LoopPressure({ boundMs: config.limits.shed_loop_delay_ms, now }),
      onShed,
    }),
    identify: identifyStep(credentialReader(config.auth.vendor_names), keys),
    authenticate: authenticateStep(authentication),
    'authenticate-body-key': authenticateBodyKeyStep(authentication),
    'team-shed': teamShedStep({ concurrencyMax: config.limits.team_concurrency, onShed }),
    read: readStep(offers, config.limits.body_bytes),
    admit: admitStep({
      ledger: store.ledger,
      settlements: parts.settlements,
      full: parts.full,
      cache: keys,
      client,
      leaseMs: config.limits.reservation_seconds * SECOND_MS,
      tagsMax: config.limits.tags,
      rateLimitHeaders: config.limits.rate_limit_headers,
      offers,
      now,
      onAdmission(admission, teamId) {
        requests.admission(admission);
        countRefusal(parts.refusals, admission, teamId);
      },
      onUnavailable: (cause) => parts.probe.failed(cause),
    }),
    translate: translateStep(translate),
    health: healthEndpoint(parts.serving),
    languages: languagesEndpoint((x) => offerFor(x, offers.current).languages),
    usage: usageEndpoint(store.teams, store.history),
    ...glossarySteps({ glossaries, languages, bodyBytesMax: config.limits.body_bytes, newId: parts.newId }),
  };
}

function countRefusal(refusals: RefusalCounter, { kind }: Admission | CheckedCaller, teamId: string): void {
  if (kind === 'rate_limited' || kind === 'quota_exceeded' || kind === 'credit_exhausted') refusals.count(teamId, kind);
}

function addressBoundOf({ limits }: Config): AddressLimit | undefined {
  const perMinute = limits.unknown_keys_per_minute;
  return perMinute === 0 ? undefined : new AddressLimit(perMinute);
}

/** The steps of each forward route, by its name. */
function stepsOfForward(
  { config, forward, upstream, life: { log } }: ChainParts,
  { passTraceparent }: EngineUsers,
  admit: Step,
  shared: ReadonlyMap<string, Step>,
): ReadonlyMap<string, ReadonlyMap<string, Step>> {
  if (upstream === undefined) return new Map();
  const named = forward.flatMap((route) => route.methods.map((method) => [routeName({ method, path: route.path }), route] as const));
  const step = forwardStep({
    routes: new Map(named),
    upstream,
    leaseMs: config.limits.reservation_seconds * SECOND_MS,
    passTraceparent,
    now,
    onFailures: (x, failures, answered) =>
      log.warn('forward attempts failed', { request_id: x.id, route: x.route.name, causes: failures.join(' '), answered }),
  });
  return new Map(named.map(([name, route]) => [name, new Map([...shared, ['forward', step], ['admit', chargedAdmission(admit, route)]])]));
}
