// Sets up the sign-in by an OpenID provider: who may, and by which package.
import { assertFaultless } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { oidcSettings } from '../config/secrets.ts';
import { RecentFailures } from '../admin/operators.ts';
import type { ConsoleOidc } from '../console/console-route.ts';
import type { GroupRoles } from '../domain/operator.ts';
import type { OidcSettings } from '../ports/identity-provider.ts';
import type { Store } from '../ports/store.ts';
import { loadOidcLibrary, OIDC_PACKAGE, OidcProvider } from '../runtime/oidc-provider.ts';
import type { OidcLibrary } from '../runtime/oidc-provider.ts';
import { recordSignIns } from '../stores/records/ending-records.ts';
import { SharedSignIns } from '../runtime/shared-sign-ins.ts';

/** The settings in force, which a reload replaces, and the package. */
export interface OidcSide {
  settings: OidcSettings;
  readonly library: OidcLibrary;
}

/** `undefined` if it is off. Rejects with a `ConfigError`, also if the package is not installed. */
export async function openOidc(config: Config, env: Environment = process.env): Promise<OidcSide | undefined> {
  const settings = oidcSettings(config, env);
  if (settings === undefined) return undefined;
  const library = await loadOidcLibrary();
  const reason = `needs the package ${OIDC_PACKAGE}, which is not installed; it must be beside Lingate: npm install ${OIDC_PACKAGE}`;
  assertFaultless(config.file, library === undefined ? [{ path: 'admin.oidc', reason }] : []);
  return { settings, library: library! };
}

export function groupRolesOf({ issuer, roles }: OidcSettings): GroupRoles {
  return { issuer, ...roles };
}

/** `now` is a monotonic clock, `nowMs` the time of this process that is believed. */
export function consoleOidc(side: OidcSide, { secrets, records }: Store, now: () => number, nowMs: () => number): ConsoleOidc {
  const settings = (): OidcSettings => side.settings;
  const provider = (): string => `${side.settings.issuer}\n${side.settings.clientId}`;
  return {
    settings,
    provider: new OidcProvider({ library: side.library, settings, now, nowMs }),
    attempts: new SharedSignIns({ secrets, records: recordSignIns(records), provider, now }),
    failures: { ofStrangers: new RecentFailures(now), ofAttempts: new RecentFailures(now) },
  };
}
