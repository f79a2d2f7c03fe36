// The OpenID provider of the console's sign-in, by openid-client, which is only loaded if a provider is configured.
import type * as OpenIdClient from 'openid-client';
import type { SignInAttempt } from '../domain/sign-in-attempt.ts';
import type { ProviderRefusal } from '../domain/sign-in-refusal.ts';
import type { IdentityProvider, OidcSettings, ProvenPerson } from '../ports/identity-provider.ts';
import { boundedFetch } from './bounded-fetch.ts';
import { refusalOfError } from './oidc-refusals.ts';
import { personOf } from './proven-person.ts';

export const OIDC_PACKAGE = 'openid-client';
/** Below `consoleUrl`. */
const CALLBACK_PATH = '/console/oidc/callback';
const SIGNED_OUT_PATH = '/console/sign-in';

/** For everything that one request of a browser takes at the provider: a person is waiting. */
const CALLS_MS_MAX = 8000;
/** Of discovery documents, keys, tokens and claims. */
const ANSWER_BYTES_MAX = 512 * 1024;
/** Browsers that are waiting for the provider at a time; beyond that they are refused at once. */
const WAITING_MAX = 32;
/** How old a discovery document may be when a browser is sent to the provider, and when it comes back. */
const DISCOVERED_MS = { going: 60_000, back: 600_000 };
/** An ID token is made for the sign-in that it ends. */
const ISSUED_WITHIN_SECONDS = 600;
const AHEAD_SECONDS = 60;
/** A longer one does not fit into the head of a request; the provider then asks the person. */
const ID_TOKEN_HINT_LENGTH_MAX = 4000;

export type OidcLibrary = typeof OpenIdClient;

interface Discovered {
  readonly issuer: string;
  readonly metadata: OpenIdClient.ServerMetadata;
  readonly atMs: number;
}

/** `undefined` if the package is not installed. */
export async function loadOidcLibrary(): Promise<OidcLibrary | undefined> {
  try {
    return await import('openid-client');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_MODULE_NOT_FOUND') return undefined;
    throw error;
  }
}

export interface OidcProviderOptions {
  readonly library: OidcLibrary;
  /** Those in force at the time of the call. */
  readonly settings: () => OidcSettings;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** The wall clock. */
  readonly nowMs: () => number;
  readonly callsMsMax?: number;
}

export class OidcProvider implements IdentityProvider {
  readonly #options: OidcProviderOptions;
  #discovered: Discovered | undefined;
  #discovering: { readonly issuer: string; readonly found: Promise<Discovered> } | undefined;
  #waiting = 0;

  constructor(options: OidcProviderOptions) {
    this.#options = options;
  }

  authorizationUrl(attempt: SignInAttempt): Promise<string | ProviderRefusal> {
    return this.#answering(async (settings, deadline) => {
      const { library } = this.#options;
      const configuration = this.#configuration(settings, await this.#metadata(settings, DISCOVERED_MS.going), deadline);
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: settings.consoleUrl + CALLBACK_PATH,
        scope: ['openid', ...settings.scopes.filter((scope) => scope !== 'openid')].join(' '),
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    });
  }

  identify(query: URLSearchParams, attempt: SignInAttempt): Promise<ProvenPerson | ProviderRefusal> {
    return this.#answering(async (settings, deadline) => {
      const metadata = await this.#metadata(settings, DISCOVERED_MS.back);
      const mixedUp = wrongIssuer(query, metadata);
      if (mixedUp !== undefined) return mixedUp;
      const configuration = this.#configuration(settings, metadata, deadline);
      const callback = new URL(`${settings.consoleUrl}${CALLBACK_PATH}?${query.toString()}`);
      const tokens = await this.#options.library.authorizationCodeGrant(configuration, callback, {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      });
      return this.#person(configuration, settings, tokens);
    });
  }

  signOutUrl({ issuer, idToken }: ProvenPerson): string | undefined {
    const settings = this.#options.settings();
    const discovered = this.#discovered;
    if (discovered?.issuer !== settings.issuer || discovered.metadata.issuer !== issuer) return undefined;
    if (discovered.metadata.end_session_endpoint === undefined) return undefined;
    const configuration = this.#configuration(settings, discovered.metadata, AbortSignal.abort());
    const hint: Record<string, string> = idToken.length > ID_TOKEN_HINT_LENGTH_MAX ? {} : { id_token_hint: idToken };
    const back = { post_logout_redirect_uri: settings.consoleUrl + SIGNED_OUT_PATH };
    return this.#options.library.buildEndSessionUrl(configuration, { ...hint, ...back }).href;
  }

  async #person(
    configuration: OpenIdClient.Configuration,
    settings: OidcSettings,
    tokens: Awaited<ReturnType<OidcLibrary['authorizationCodeGrant']>>,
  ): Promise<ProvenPerson | ProviderRefusal> {
    const claims = tokens.claims();
    const { id_token: idToken, access_token: accessToken } = tokens;
    if (claims === undefined || idToken === undefined) return { refused: 'wrong_id_token', detail: 'there is none' };
    const ageSeconds = this.#options.nowMs() / 1000 - claims.iat;
    if (ageSeconds > ISSUED_WITHIN_SECONDS || ageSeconds < -AHEAD_SECONDS)
      return { refused: 'wrong_id_token', detail: 'its claim iat is wrong' };
    const hasAll = [settings.groupsClaim, settings.nameClaim].every((name) => Object.hasOwn(claims, name));
    // By the standard, claims of scopes are there and not in the ID token.
    const more =
      hasAll || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await this.#options.library.fetchUserInfo(configuration, accessToken, claims.sub);
    return personOf({ ...more, ...claims }, idToken, settings);
  }

  /** For one request of a browser: the provider's keys are then read anew, so that one that was withdrawn counts no more. */
  #configuration(settings: OidcSettings, metadata: OpenIdClient.ServerMetadata, deadline: AbortSignal): OpenIdClient.Configuration {
    const { library } = this.#options;
    const { clientId, clientSecret, issuer } = settings;
    const configuration = new library.Configuration(metadata, clientId, undefined, authenticationOf(library, metadata, clientSecret));
    configuration[library.customFetch] = boundedFetch(ANSWER_BYTES_MAX, deadline);
    // Without this the signature of ID tokens that come from the token endpoint is not checked.
    library.enableNonRepudiationChecks(configuration);
    if (isPlain(issuer)) library.allowInsecureRequests(configuration);
    return configuration;
  }

  async #metadata({ issuer }: OidcSettings, ageMsMax: number): Promise<OpenIdClient.ServerMetadata> {
    const { now } = this.#options;
    const known = this.#discovered;
    if (known?.issuer === issuer && now() - known.atMs < ageMsMax) return known.metadata;
    if (this.#discovering?.issuer !== issuer) this.#discovering = { issuer, found: this.#discover(issuer) };
    this.#discovered = await this.#discovering.found;
    return this.#discovered.metadata;
  }

  /** Sign-ins at the same time wait for the same document. */
  async #discover(issuer: string): Promise<Discovered> {
    const { library, now } = this.#options;
    const deadline = AbortSignal.timeout(this.#callsMsMax);
    try {
      const configuration = await library.discovery(new URL(issuer), 'lingate', undefined, undefined, {
        [library.customFetch]: boundedFetch(ANSWER_BYTES_MAX, deadline),
        timeout: this.#callsMsMax / 1000,
        execute: isPlain(issuer) ? [library.allowInsecureRequests] : [],
      });
      return { issuer, metadata: configuration.serverMetadata(), atMs: now() };
    } finally {
      if (this.#discovering?.issuer === issuer) this.#discovering = undefined;
    }
  }

  /** Turns errors into refusals, and ends in time. */
  async #answering<T>(ask: (settings: OidcSettings, deadline: AbortSignal) => Promise<T | ProviderRefusal>): Promise<T | ProviderRefusal> {
    if (this.#waiting >= WAITING_MAX) return { refused: 'provider_away', detail: 'too many sign-ins are waiting for it' };
    this.#waiting++;
    try {
      return await ask(this.#options.settings(), AbortSignal.timeout(this.#callsMsMax));
    } catch (error) {
      return refusalOfError(error, this.#options.library);
    } finally {
      this.#waiting--;
    }
  }

  get #callsMsMax(): number {
    return this.#options.callsMsMax ?? CALLS_MS_MAX;
  }
}

/** RFC 9207: an answer that names its issuer must name this one, and one that has to name it must do so. */
function wrongIssuer(query: URLSearchParams, metadata: OpenIdClient.ServerMetadata): ProviderRefusal | undefined {
  const named = query.getAll('iss');
  const isRight =
    named.length === 0 ? metadata.authorization_response_iss_parameter_supported !== true : named.every((iss) => iss === metadata.issuer);
  return isRight ? undefined : { refused: 'wrong_issuer', detail: 'the answer does not name the issuer of the configuration' };
}

/**
 * In the body where the provider lists that: not all of them decode what the standard encodes in a header. One that lists no methods
 * takes the header, by the standard.
 */
function authenticationOf(
  library: OidcLibrary,
  { token_endpoint_auth_methods_supported: listed }: OpenIdClient.ServerMetadata,
  secret: string,
) {
  return listed?.includes('client_secret_post') === true ? library.ClientSecretPost(secret) : library.ClientSecretBasic(secret);
}

/** Only for issuers on loopback, which the configuration allows without TLS. */
function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:');
}
