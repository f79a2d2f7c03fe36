// Sets up the sign-in by an OpenID provider: by which package, and with which settings.
import { assertFaultless } from '../config/config-error.ts';
import type { Config } from '../config/config.ts';
import type { Environment } from '../config/environment.ts';
import { oidcSettings } from '../config/secrets.ts';
import { loadOidcLibrary, OIDC_PACKAGE } from '../console/oidc-provider.ts';
import type { OidcLibrary } from '../console/oidc-provider.ts';
import type { OidcSettings } from '../domain/operator.ts';

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
