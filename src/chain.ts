// Makes the steps from their parts and puts them, with those of plugins, into the routes.
import type { Config } from './config/config.ts';
import { ConfigError } from './config/config-error.ts';
import type { LoadedPlugins } from './config/plugins.ts';
import { placeSteps } from './core/plugin.ts';
import type { RouteSpec } from './core/route.ts';
import { credentialReader } from './domain/credentials.ts';
import type { Languages } from './domain/languages.ts';
import { healthEndpoint } from './endpoints/health.ts';
import { languagesEndpoint } from './endpoints/languages.ts';
import type { Metrics } from './ops/metrics.ts';
import type { AccessLog } from './ports/access-log.ts';
import type { Engine } from './ports/engine.ts';
import type { KeyCache } from './ports/key-directory.ts';
import type { Settlements } from './ports/ledger.ts';
import type { Log } from './ports/log.ts';
import type { Store } from './ports/store.ts';
import { routeTable } from './routes.ts';
import type { Steps } from './routes.ts';
import { accessLogStep } from './steps/access-log.ts';
import { admitStep } from './steps/admit.ts';
import { authenticateStep } from './steps/authenticate.ts';
import { identifyStep } from './steps/identify.ts';
import { readStep } from './steps/read.ts';
import { translateStep } from './steps/translate.ts';

/** What steps are made of. They keep references and use none before a request comes. */
export interface ChainParts {
  readonly store: Store;
  readonly engine: Engine;
  readonly keys: KeyCache;
  readonly settlements: Settlements;
  readonly log: Log;
  readonly access: AccessLog;
  readonly metrics: Metrics;
  /** Asked anew for each request: an operator may put another list in place. */
  readonly languages: () => Languages;
  /** The store answers and we are not draining. */
  readonly serving: () => boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** Throws a `ConfigError` when a plugin's step fits nowhere. */
export function buildRoutes(config: Config, plugins: LoadedPlugins, parts: ChainParts): RouteSpec[] {
  const table = routeTable(stepsOf(config, parts));
  try {
    return placeSteps(table, plugins.placements);
  } catch (error) {
    throw new ConfigError([`plugins: ${error instanceof Error ? error.message : 'a step cannot be placed'}`]);
  }
}

function stepsOf(config: Config, parts: ChainParts): Steps {
  const { store, keys, metrics, languages } = parts;
  return {
    accessLog: accessLogStep(observed(parts), parts.now),
    identify: identifyStep(credentialReader(config.auth.vendorNames), keys),
    authenticate: authenticateStep(keys),
    read: readStep(languages, config.limits.bodyBytes),
    admit: admitStep({
      ledger: store.ledger,
      settlements: parts.settlements,
      cache: keys,
      leaseMs: config.limits.leaseMs,
      onAdmission: (kind) => metrics.admission(kind),
    }),
    translate: translateStep({
      engine: parts.engine,
      languages,
      onEngineResult(x, failures, usable) {
        metrics.engineAttempts(failures, usable);
        if (failures.length > 0)
          parts.log.warn('engine attempts failed', { request_id: x.id, causes: failures.join(' '), answered: usable });
      },
    }),
    health: healthEndpoint(parts.serving),
    languages: languagesEndpoint(languages),
  };
}

/** Every access entry is a log line and a few counts. */
function observed({ access, metrics }: ChainParts): AccessLog {
  return {
    record(entry) {
      access.record(entry);
      metrics.request(entry);
    },
  };
}
