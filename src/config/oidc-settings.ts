// Reads the sign-in by an OpenID provider from the configuration, with its secret.
import { secret } from '../domain/option-schema.ts';
import type { OidcSettings } from '../ports/identity-provider.ts';
import type { Config } from './config.ts';
import { assertFaultless } from './config-error.ts';
import type { Environment } from './environment.ts';
import { reveal } from './secrets.ts';

/** `undefined` if it is off. Throws a `ConfigError`. */
export function oidcSettings({ admin, file, sources: { files } }: Config, env: Environment): OidcSettings | undefined {
  if (admin?.oidc === undefined || admin.console_url === undefined) return undefined;
  const { issuer, client_id: clientId, client_secret: written, scopes, roles, claim, name_claim: nameClaim } = admin.oidc;
  const { value, faults } = reveal(secret(''), written, { env, file, files }, 'admin.oidc.client_secret');
  assertFaultless(file, faults);
  const clientSecret = value as string;
  return { issuer, clientId, clientSecret, scopes, roles, groupsClaim: claim, nameClaim, consoleUrl: new URL(admin.console_url).origin };
}
