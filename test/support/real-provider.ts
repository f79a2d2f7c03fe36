// The certified OpenID provider `oidc-provider`, on a port of this machine, with its own pages for signing in and out.
import { createServer } from 'node:http';
import type { RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RealProvider {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  close(): Promise<void>;
}

/** The package has no types. */
type ProviderClass = new (issuer: string, configuration: object) => { callback(): RequestListener };

/** Whoever signs in with one of these names has these groups; the password does not matter. */
type People = Readonly<Record<string, readonly string[]>>;

export async function startRealProvider(consoleUrl: string, people: People): Promise<RealProvider> {
  const name: string = 'oidc-provider';
  const { default: Provider } = (await import(name)) as { readonly default: ProviderClass };
  let answer: RequestListener | undefined;
  const server = createServer((request, response) => answer?.(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [clientId, clientSecret] = ['lingate-console', 'a secret of the console: +%&=_-~'];
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [`${consoleUrl}/console/oidc/callback`],
        post_logout_redirect_uris: [`${consoleUrl}/console/sign-in`],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['groups'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: true, groups: people[id] ?? [] }),
    }),
    features: { devInteractions: { enabled: true }, rpInitiatedLogout: { enabled: true } },
    pkce: { required: () => true },
    cookies: { keys: ['of a test'] },
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 3600 },
  });
  answer = provider.callback();
  return {
    issuer,
    clientId,
    clientSecret,
    close() {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
