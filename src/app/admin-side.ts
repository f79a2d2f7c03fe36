// Builds the admin API and the console for the ops listener.
import { hostname } from 'node:os';
import { AdminApi } from '../admin/admin-api.ts';
import { OperationContext } from '../admin/operation-context.ts';
import { liveReport } from '../admin/operations/live.ts';
import { RecentFailures } from '../admin/operators.ts';
import type { Operators } from '../admin/operators.ts';
import { SignInAudit } from '../admin/audit-entries.ts';
import type { Config } from '../config/config.ts';
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
import type { Log } from '../ports/log.ts';
import { recordSignIns } from '../stores/records/ending-records.ts';
import { documentsOf } from './configured-store.ts';
import type { ValidSettings } from './judge.ts';
import type { OperatorParts } from './parts.ts';
import { overviewOf } from './processes.ts';
import type { ServingProcesses } from './processes.ts';
import { monotonicMs as now } from './until-stopped.ts';

interface AdminSideOptions extends Pick<OperatorParts, 'store' | 'refusals' | 'nowMs'> {
  readonly operators: Operators;
  /** `undefined` if only tokens are configured. */
  readonly oidc: ValidSettings['oidc'];
  readonly processes: Pick<ServingProcesses, 'states' | 'recentRequests' | 'teamsChanged'>;
  /** The configuration at the time of the call. */
  readonly config: () => Config;
  readonly docsUrl: () => string;
  /** The statuses of the problem codes that plugins add. */
  readonly pluginStatuses: ReadonlyMap<string, number>;
  readonly log: Log;
}

function consoleOidc(side: NonNullable<ValidSettings['oidc']>, { store: { secrets, records }, nowMs }: AdminSideOptions): ConsoleOidc {
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
  const { operators, oidc, store, refusals, processes, config, docsUrl, log, nowMs, pluginStatuses } = options;
  const { teams, history, audit } = store;
  const outcomeOf = outcomesWith(pluginStatuses);
  const newId = ulidSource(nowMs);
  const overview = async (): Promise<Overview> => overviewOf(await processes.states(), config(), nowMs(), outcomeOf);
  const context = new OperationContext({
    teams,
    plans: () => config().plans,
    newId,
    audit,
    onChange: () => processes.teamsChanged(),
    tags: { registry: store.tagSettings, most: () => config().limits.tags },
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
  let writer: ProblemWriter | undefined;
  const problems = (): ProblemWriter => (writer ??= new ProblemWriter(docsUrl(), config().service.name));
  const shared = { context, operators, wrongTokens: new RecentFailures(now), problems, log, newId, now, nowMs };
  return [
    new Console({
      ...shared,
      oidc: oidc && consoleOidc(oidc, options),
      signIns: new SignInAudit({ audit, log, now, nowMs }),
      overview,
      serviceName: () => config().service.name,
      gateway: config().gateway ?? hostname(),
    }),
    new AdminApi({ ...shared, idempotency: store.idempotency }),
  ];
}
