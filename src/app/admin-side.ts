// Builds the admin API and the console for the ops listener.
import { hostname } from 'node:os';
import { performance } from 'node:perf_hooks';
import { AdminApi } from '../admin/admin-api.ts';
import { OperationContext } from '../admin/operation-context.ts';
import { liveReport } from '../admin/operations/live.ts';
import { Operators, RecentFailures } from '../admin/operators.ts';
import { SignInAudit } from '../admin/audit-entries.ts';
import type { Config } from '../config/config.ts';
import type { Secrets } from '../config/secrets.ts';
import { Console } from '../console/console.ts';
import type { ConsoleOidc } from '../console/console-route.ts';
import { OidcAttempts } from '../console/oidc-attempts.ts';
import { OidcProvider } from '../console/oidc-provider.ts';
import { outcomesWith } from '../console/overview-figures.ts';
import type { Overview } from '../console/overview-figures.ts';
import { ProblemWriter } from '../core/problem-writer.ts';
import type { OidcSettings } from '../domain/operator.ts';
import { ulidSource } from '../domain/ulid.ts';
import type { OpsApp } from '../ops/ops-listener.ts';
import type { Store } from '../ports/store.ts';
import { recordSignIns } from '../stores/records/ending-records.ts';
import { openOidc } from './oidc-side.ts';
import type { OidcSide } from './oidc-side.ts';
import { documentsOf } from './configured-store.ts';
import { overviewOf } from './processes.ts';
import type { OperatorSideOptions } from './operator-side.ts';

/** Who may use the admin API and the console, and how they sign in. */
export interface OpenOperators {
  readonly operators: Operators;
  /** `undefined` if only tokens are configured. */
  readonly oidc: OidcSide | undefined;
}

interface AdminSideOptions extends OpenOperators, Pick<OperatorSideOptions, 'store' | 'refusals' | 'processes' | 'nowMs' | 'log'> {
  /** The configuration at the time of the call. */
  readonly config: () => Config;
  readonly docsUrl: () => string;
  /** The statuses of the problem codes that plugins add. */
  readonly pluginStatuses: ReadonlyMap<string, number>;
}

/** `undefined` if admin API and console are off. Rejects with a `ConfigError`. */
export async function openOperators({ file }: Config, { operators: listed, oidc: settings }: Secrets): Promise<OpenOperators | undefined> {
  if (listed === undefined) return undefined;
  const oidc = await openOidc(file, settings);
  return { operators: new Operators(listed, oidc?.settings), oidc };
}

/** Puts a new configuration's operators in effect. A provider, and the console's URL, are decided at startup. */
export function replaceOperators(open: OpenOperators | undefined, { operators: listed, oidc: settings }: Secrets): void {
  if (open === undefined) return;
  const { operators, oidc } = open;
  if (oidc !== undefined) oidc.settings = { ...(settings ?? oidc.settings), consoleUrl: oidc.settings.consoleUrl };
  // Without the section everything stays as it is.
  if (listed !== undefined) operators.replace(listed, oidc?.settings);
}

/** `now` is a monotonic clock, `nowMs` the time of this process that is believed. */
function consoleOidc(side: OidcSide, { secrets, records }: Store, now: () => number, nowMs: () => number): ConsoleOidc {
  const settings = (): OidcSettings => side.settings;
  const provider = (): string => `${side.settings.issuer}\n${side.settings.clientId}`;
  return {
    settings,
    provider: new OidcProvider({ library: side.library, settings, now, nowMs }),
    attempts: new OidcAttempts({ secrets, remember: recordSignIns(records), provider, now }),
    failures: { ofStrangers: new RecentFailures(now), ofAttempts: new RecentFailures(now) },
  };
}

/** The apps that the ops listener serves besides its pages. */
export function adminApps(options: AdminSideOptions): readonly OpsApp[] {
  const { operators, store, refusals, processes, config, docsUrl, log, nowMs, pluginStatuses } = options;
  const { teams, history, audit } = store;
  const outcomeOf = outcomesWith(pluginStatuses);
  const newId = ulidSource(nowMs);
  const now = (): number => performance.now();
  const settings = { registry: store.tagSettings, most: () => config().limits.tags };
  const overview = async (): Promise<Overview> => overviewOf(await processes.states(), config(), nowMs(), outcomeOf);
  const context = new OperationContext({
    teams,
    plans: () => config().plans,
    newId,
    audit,
    onChange: () => processes.teamsChanged(),
    tags: settings,
    refusals,
    glossaries: store.glossaries,
    history,
    tagHistory: store.tags,
    documents: () => documentsOf(store, nowMs),
    recentRequests: () => processes.recentRequests(),
    live: async () => {
      const { stepMs, steps } = await overview();
      return liveReport(stepMs / 1000, steps);
    },
    nowMs,
  });
  const signIns = new SignInAudit({ audit, log, now, nowMs });
  const oidc = options.oidc && consoleOidc(options.oidc, store, now, nowMs);
  let writer: ProblemWriter | undefined;
  const problems = (): ProblemWriter => (writer ??= new ProblemWriter(docsUrl(), config().service.name));
  const shared = { context, operators, wrongTokens: new RecentFailures(now), problems, log, newId, now, nowMs };
  return [
    new Console({
      ...shared,
      oidc,
      signIns,
      overview,
      serviceName: () => config().service.name,
      gateway: config().gateway ?? hostname(),
    }),
    new AdminApi({ ...shared, idempotency: store.idempotency }),
  ];
}
