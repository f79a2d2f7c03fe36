// Sets up the sign-in by an OpenID provider: by which package, and with which settings.
import { assertFaultless } from '../config/config-error.ts';
import { loadOidcLibrary, OIDC_PACKAGE } from '../console/oidc-provider.ts';
import type { OidcLibrary } from '../console/oidc-provider.ts';
import type { OidcSettings } from '../domain/operator.ts';

/** The settings in force, which a reload replaces, and the package. */
export interface OidcSide {
  settings: OidcSettings;
  readonly library: OidcLibrary;
}

/** `undefined` if it is off. Rejects with a `ConfigError`, also if the package is not installed. */
export async function openOidc(file: string, settings: OidcSettings | undefined): Promise<OidcSide | undefined> {
  if (settings === undefined) return undefined;
  const library = await loadOidcLibrary();
  const reason = `needs the package ${OIDC_PACKAGE}, which is not installed; it must be beside Lingate: npm install ${OIDC_PACKAGE}`;
  assertFaultless(file, library === undefined ? [{ path: 'admin.oidc', reason }] : []);
  return { settings, library: library! };
}
