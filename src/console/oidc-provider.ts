// The OpenID provider of the sign-in, by openid-client, which is only loaded if a provider is
// configured: calls with limits, refusals in our words, and who a person is by their claims.
import type * as OpenIdClient from 'openid-client';
import type { OidcSettings, ProvenPerson, SignInRefusal } from '../domain/operator.ts';
import type { OidcAttempt } from './oidc-attempts.ts';

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
/** How long a discovery document is good. */
const DISCOVERED_MS = 60_000;
/** An ID token is made for the sign-in that it ends. */
const ISSUED_WITHIN_SECONDS = 600;
const AHEAD_SECONDS = 60;
/** A longer one does not fit into the head of a request; the provider then asks the person. */
const ID_TOKEN_HINT_LENGTH_MAX = 4000;

type OidcLibrary = typeof OpenIdClient;
type Metadata = OpenIdClient.ServerMetadata;
type Configuration = OpenIdClient.Configuration;

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

export interface OidcRefusal {
  readonly refused: Exclude<SignInRefusal, 'wrong_token'>;
  /** For the log: words of ours, of the standard, or of the library; none of the provider's. */
  readonly detail: string;
}

/** Every call ends within seconds, whatever the provider does, and none rejects. */
export class OidcProvider {
  readonly #options: OidcProviderOptions;
  /** Sign-ins at the same time wait for the same document. */
  #discovered: { readonly issuer: string; readonly atMs: number; readonly metadata: Promise<Metadata> } | undefined;
  #waiting = 0;

  constructor(options: OidcProviderOptions) {
    this.#options = options;
  }

  /** The provider's page to which a browser is sent. */
  authorizationUrl({ state, nonce, verifier }: OidcAttempt): Promise<string | OidcRefusal> {
    return this.#asking(async ({ consoleUrl, scopes }, configuration, library) => {
      const url = library.buildAuthorizationUrl(configuration, {
        redirect_uri: consoleUrl + CALLBACK_PATH,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        state,
        nonce,
        code_challenge: await library.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    });
  }

  /** Who has signed in, by the query of the browser's return. Its `state` is the attempt's. */
  identify(query: URLSearchParams, { state, nonce, verifier }: OidcAttempt): Promise<ProvenPerson | OidcRefusal> {
    return this.#asking(async (settings, configuration, library) => {
      const callback = new URL(`${settings.consoleUrl}${CALLBACK_PATH}?${query.toString()}`);
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier, idTokenExpected: true };
      const tokens = await library.authorizationCodeGrant(configuration, callback, checks);
      const claims = tokens.claims()!;
      const ageSeconds = this.#options.nowMs() / 1000 - claims.iat;
      if (ageSeconds > ISSUED_WITHIN_SECONDS || ageSeconds < -AHEAD_SECONDS) return refusal('wrong_id_token', 'unexpected "iat"');
      const { userinfo_endpoint: userInfo, end_session_endpoint: sessionEnd } = configuration.serverMetadata();
      const hasAll = [settings.groupsClaim, settings.nameClaim].every((name) => Object.hasOwn(claims, name));
      // By the standard, claims of scopes are there and not in the ID token.
      const more = hasAll || userInfo === undefined ? {} : await library.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      const person = personOf({ ...more, ...claims }, settings);
      if ('refused' in person || sessionEnd === undefined) return person;
      const hint: Record<string, string> = tokens.id_token!.length > ID_TOKEN_HINT_LENGTH_MAX ? {} : { id_token_hint: tokens.id_token! };
      const back = { post_logout_redirect_uri: settings.consoleUrl + SIGNED_OUT_PATH };
      return { ...person, signOutUrl: library.buildEndSessionUrl(configuration, { ...hint, ...back }).href };
    });
  }

  /** Turns errors into refusals, and ends in time. */
  async #asking<T>(
    ask: (settings: OidcSettings, configuration: Configuration, library: OidcLibrary) => Promise<T | OidcRefusal>,
  ): Promise<T | OidcRefusal> {
    if (this.#waiting >= WAITING_MAX) return refusal('provider_away', 'too many sign-ins are waiting for it');
    this.#waiting++;
    const [settings, { library }] = [this.#options.settings(), this.#options];
    try {
      const deadline = this.#deadline();
      return await ask(settings, this.#configuration(settings, await this.#metadata(settings), deadline), library);
    } catch (error) {
      return refusalOf(error, library);
    } finally {
      this.#waiting--;
    }
  }

  #deadline(): AbortSignal {
    return AbortSignal.timeout(this.#options.callsMsMax ?? CALLS_MS_MAX);
  }

  /** For one request of a browser: keys are read anew, so that a withdrawn one counts no more. */
  #configuration({ clientId, clientSecret, issuer }: OidcSettings, metadata: Metadata, deadline: AbortSignal): Configuration {
    const { library } = this.#options;
    // In the body where the provider lists that: not all decode what the standard encodes in a
    // header, which is for those that list no methods.
    const inBody = metadata.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true;
    const authentication = inBody ? library.ClientSecretPost(clientSecret) : library.ClientSecretBasic(clientSecret);
    const configuration = new library.Configuration(metadata, clientId, undefined, authentication);
    configuration[library.customFetch] = boundedFetch(deadline);
    // Without this the signature of ID tokens that come from the token endpoint is not checked.
    library.enableNonRepudiationChecks(configuration);
    if (isPlain(issuer)) library.allowInsecureRequests(configuration);
    return configuration;
  }

  #metadata({ issuer }: OidcSettings): Promise<Metadata> {
    const { library, now } = this.#options;
    if (this.#discovered?.issuer === issuer && now() - this.#discovered.atMs < DISCOVERED_MS) return this.#discovered.metadata;
    const found = library.discovery(new URL(issuer), 'lingate', undefined, undefined, {
      [library.customFetch]: boundedFetch(this.#deadline()),
      execute: isPlain(issuer) ? [library.allowInsecureRequests] : [],
    });
    const discovered = { issuer, atMs: now(), metadata: found.then((configuration) => configuration.serverMetadata()) };
    this.#discovered = discovered;
    discovered.metadata.catch(() => {
      if (this.#discovered === discovered) this.#discovered = undefined;
    });
    return discovered.metadata;
  }
}

/** Only for issuers on loopback, which the configuration allows without TLS. */
function isPlain(issuer: string): boolean {
  return issuer.startsWith('http:');
}

function refusal(refused: OidcRefusal['refused'], detail: string): OidcRefusal {
  return { refused, detail };
}

/** By names of errors in OAuth 2.0 and OpenID Connect, and by codes of openid-client. */
const REFUSALS: ReadonlyMap<unknown, OidcRefusal['refused']> = new Map(
  (
    [
      ['declined', 'access_denied login_required consent_required interaction_required account_selection_required'],
      ['provider_away', 'temporarily_unavailable server_error OAUTH_TIMEOUT OAUTH_ABORT'],
      ['provider_away', 'OAUTH_RESPONSE_IS_NOT_CONFORM OAUTH_RESPONSE_IS_NOT_JSON OAUTH_PARSE_ERROR'],
      ['wrong_client', 'invalid_client unauthorized_client'],
      ['wrong_code', 'invalid_grant'],
      ['wrong_id_token', 'OAUTH_KEY_SELECTION_FAILED OAUTH_JWT_TIMESTAMP_CHECK_FAILED OAUTH_JWT_CLAIM_COMPARISON_FAILED'],
      ['wrong_id_token', 'OAUTH_INVALID_RESPONSE OAUTH_UNSUPPORTED_OPERATION'],
    ] as const
  ).flatMap(([refused, names]) => names.split(' ').map((name) => [name, refused] as const)),
);
/** An error's name is the only word of a provider that is shown. */
const ERROR_NAME = /^[a-z][a-z_]{0,60}$/;
/** Of a discovery document, or of the browser's return (RFC 9207). */
const WRONG_ISSUER = /issuer does not match|"iss" \(issuer\) response parameter|parameter "iss"|"iss" parameter/;

/** Every error has an answer: one that is not known counts as the provider's. */
function refusalOf(error: unknown, errors: OidcLibrary): OidcRefusal {
  if (error instanceof errors.AuthorizationResponseError) return ofErrorName(error.error, 'sent the browser back with');
  if (error instanceof errors.ResponseBodyError) return ofErrorName(error.error, 'answered the code with');
  if (error instanceof errors.WWWAuthenticateChallengeError) return refusal('wrong_client', `status ${error.status}`);
  const causes = causesOf(error);
  const long = causes.find((cause) => cause instanceof LongAnswerError);
  if (long !== undefined) return refusal('provider_error', long.message);
  const own = causes.filter(({ code }) => String(code).startsWith('OAUTH_'));
  if (own.length === 0 && error instanceof errors.ClientError) return refusal('provider_error', 'unknown');
  if (own.length === 0) return refusal('provider_away', codeOf(causes) ?? 'no connection');
  const said = own.at(-1)!.message;
  if (WRONG_ISSUER.test(said)) return refusal('wrong_issuer', said);
  const answer = causes.map(({ cause }) => cause).find((cause) => cause instanceof Response);
  return refusal(REFUSALS.get(own[0]!.code) ?? 'provider_error', answer === undefined ? said : `status ${answer.status}`);
}

function ofErrorName(written: string, what: string): OidcRefusal {
  const name = ERROR_NAME.test(written) ? written : 'an error of its own';
  return refusal(REFUSALS.get(name) ?? 'provider_error', `the provider ${what} ${name}`);
}

type ErrorCause = Error & { readonly code?: unknown };

/** The error and what has caused it, from the outside in; bounded. */
function causesOf(error: unknown): readonly ErrorCause[] {
  const causes: ErrorCause[] = [];
  for (let one = error; one instanceof Error && causes.length < 8; one = one.cause) causes.push(one);
  return causes;
}

/** Of a connection: `ECONNREFUSED`. */
function codeOf(causes: readonly ErrorCause[]): string | undefined {
  return causes.map(({ code }) => String(code)).find((code) => /^[A-Z_]{2,50}$/.test(code));
}

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** Limits what a session keeps. */
const GROUPS_MAX = 10_000;
/** One line of printable characters. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;

/** `claims` have been checked; of the same name, those of the ID token count. */
export function personOf(claims: Claims, { groupsClaim, nameClaim }: OidcSettings): ProvenPerson | OidcRefusal {
  const own = (name: string): unknown => (Object.hasOwn(claims, name) ? claims[name] : undefined);
  // Some providers send a single group as a text.
  const groups = typeof own(groupsClaim) === 'string' ? [own(groupsClaim)] : own(groupsClaim);
  if (!Array.isArray(groups)) return refusal('no_claim', `there is no claim ${groupsClaim} with a list of groups`);
  const name = own(nameClaim);
  // Everyone may write any address into their profile: unverified, it would mask in the audit.
  const isName = typeof name === 'string' && NAME.test(name) && (nameClaim !== 'email' || claims['email_verified'] !== false);
  return {
    issuer: claims.iss,
    subject: claims.sub,
    // By the standard a subject is at most 255 ASCII characters.
    name: isName ? name : claims.sub.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 255),
    groups: groups.slice(0, GROUPS_MAX).filter((group): group is string => typeof group === 'string'),
  };
}

/** The answer is longer than allowed. */
class LongAnswerError extends Error {
  override name = 'LongAnswerError';
}

/** Follows no redirects. `deadline` ends every call, also its reading. */
function boundedFetch(deadline: AbortSignal): OpenIdClient.CustomFetch {
  return async (url, { signal, ...options }) => {
    const ends = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const { status, statusText, headers, body } = await fetch(url, { ...options, redirect: 'manual', signal: ends });
    let bytes = 0;
    const counting = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, counted) {
        bytes += piece.length;
        if (bytes > ANSWER_BYTES_MAX) throw new LongAnswerError(`an answer of more than ${ANSWER_BYTES_MAX} bytes`);
        counted.enqueue(piece);
      },
    });
    return new Response(body?.pipeThrough(counting) ?? null, { status, statusText, headers });
  };
}
