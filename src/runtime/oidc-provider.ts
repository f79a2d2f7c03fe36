// The OpenID provider of the console's sign-in, by openid-client, which is only loaded if a
// provider is configured: calls with limits, refusals in our words, and who a person is by their
// claims.
import type * as OpenIdClient from 'openid-client';
import type { SignInAttempt, ProviderRefusal } from '../domain/sign-in-attempt.ts';
import type { IdentityProvider, OidcSettings, ProvenPerson } from '../ports/identity-provider.ts';

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
/** Of a discovery document, when a browser is sent to the provider and when it comes back. */
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

  /** For one request of a browser: keys are read anew, so that a withdrawn one counts no more. */
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

/** RFC 9207: an answer's issuer must be this one, and present if it has to be. */
function wrongIssuer(query: URLSearchParams, metadata: OpenIdClient.ServerMetadata): ProviderRefusal | undefined {
  const named = query.getAll('iss');
  const isRight =
    named.length === 0 ? metadata.authorization_response_iss_parameter_supported !== true : named.every((iss) => iss === metadata.issuer);
  return isRight ? undefined : { refused: 'wrong_issuer', detail: 'the answer does not name the issuer of the configuration' };
}

/**
 * In the body where the provider lists that: not all decode what the standard encodes in a header,
 * which is for those that list no methods.
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

type Errors = Pick<
  typeof OpenIdClient,
  'AuthorizationResponseError' | 'ResponseBodyError' | 'WWWAuthenticateChallengeError' | 'ClientError'
>;

type Refused = ProviderRefusal['refused'];

/** By names of errors in OAuth 2.0 and OpenID Connect; any other is the provider's own. */
const BY_NAME: ReadonlyMap<string, Refused> = new Map([
  ...['access_denied', 'login_required', 'consent_required', 'interaction_required', 'account_selection_required'].map(
    (name) => [name, 'declined'] as const,
  ),
  ...['temporarily_unavailable', 'server_error'].map((name) => [name, 'provider_away'] as const),
  ...['invalid_client', 'unauthorized_client'].map((name) => [name, 'wrong_client'] as const),
  ['invalid_grant', 'wrong_code'],
]);
/** An error's name is the only word of a provider that is shown. */
const ERROR_NAME = /^[a-z][a-z_]{0,60}$/;
/** The claims that openid-client compares; a claim's name may not come from the token. */
const COMPARED = new Set(['iss', 'aud', 'nonce', 'azp', 'exp', 'nbf', 'iat', 'auth_time', 'sub', 'typ']);

/** Every error has an answer: one that is not known counts as the provider's. */
function refusalOfError(error: unknown, errors: Errors): ProviderRefusal {
  if (error instanceof errors.AuthorizationResponseError) return ofErrorName(error.error, 'sent the browser back with');
  if (error instanceof errors.ResponseBodyError) return ofErrorName(error.error, 'answered the code with');
  if (error instanceof errors.WWWAuthenticateChallengeError) return refusal('wrong_client', `status ${error.status}`);
  const causes = causesOf(error);
  const long = causes.find((cause) => cause instanceof LongAnswerError);
  if (long !== undefined) return refusal('provider_error', long.message);
  const codes = causes.map(({ code }) => code).filter((code) => typeof code === 'string');
  const own = typeof causes[0]?.code === 'string' ? causes[0].code : '';
  if (error instanceof errors.ClientError || own.startsWith('OAUTH_')) return ofLibraryError(own, causes);
  return refusal('provider_away', codes.find((code) => /^[A-Z_]{2,50}$/.test(code)) ?? 'no connection');
}

function refusal(refused: Refused, detail: string): ProviderRefusal {
  return { refused, detail };
}

function ofErrorName(written: string, what: string): ProviderRefusal {
  const name = ERROR_NAME.test(written) ? written : 'an error of its own';
  return refusal(BY_NAME.get(name) ?? 'provider_error', `the provider ${what} ${name}`);
}

/** By codes of openid-client. */
function ofLibraryError(code: string, causes: readonly ErrorCause[]): ProviderRefusal {
  switch (code) {
    case 'OAUTH_TIMEOUT':
    case 'OAUTH_ABORT':
      return refusal('provider_away', 'no answer in time');
    case 'OAUTH_RESPONSE_IS_NOT_CONFORM':
    case 'OAUTH_RESPONSE_IS_NOT_JSON':
    case 'OAUTH_PARSE_ERROR': {
      const answer = causes.map(({ cause }) => cause).find((cause) => cause instanceof Response);
      return refusal('provider_away', answer === undefined ? 'an answer that is not as the standard says' : `status ${answer.status}`);
    }
    case 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED':
      return causes.some((one) => aboutOf(one).attribute === 'issuer')
        ? refusal('wrong_issuer', 'its discovery document names another issuer')
        : refusal('provider_error', 'its claims are of another person than the ID token');
    case 'OAUTH_KEY_SELECTION_FAILED':
      return refusal('wrong_id_token', 'no key of the provider fits its signature');
    case 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED':
    case 'OAUTH_JWT_CLAIM_COMPARISON_FAILED':
    case 'OAUTH_INVALID_RESPONSE':
    case 'OAUTH_UNSUPPORTED_OPERATION':
      return refusal('wrong_id_token', whatFailed(causes));
    default:
      return refusal('provider_error', /^[A-Z_]{2,60}$/.test(code) ? code.toLowerCase() : 'unknown');
  }
}

function whatFailed(causes: readonly ErrorCause[]): string {
  const claim = causes.map((one) => aboutOf(one).claim).find((one): one is string => typeof one === 'string' && COMPARED.has(one));
  if (claim !== undefined) return `its claim ${claim} is wrong`;
  const said = causes.map(({ message }) => message).join('\n');
  if (said.includes('signature verification failed')) return 'its signature is wrong';
  if (said.includes('"alg"') || said.includes('unsupported JWS algorithm')) return 'its signature algorithm is not accepted';
  return 'it is missing, or is not as the standard says';
}

type ErrorCause = Error & { readonly code?: unknown };

/** The error and what has caused it, from the outside in; bounded. */
function causesOf(error: unknown): readonly ErrorCause[] {
  const causes: ErrorCause[] = [];
  for (let one = error; one instanceof Error && causes.length < 8; one = one.cause) causes.push(one);
  return causes;
}

/** What openid-client says beside an error. */
function aboutOf({ cause }: ErrorCause): { readonly claim?: unknown; readonly attribute?: unknown } {
  return typeof cause === 'object' && cause !== null ? cause : {};
}

type Claims = Readonly<Record<string, unknown>> & { readonly iss: string; readonly sub: string };

/** Limits what a session keeps. */
const GROUPS_MAX = 10_000;
/** One line of printable characters. */
const NAME = /^(?! )[^\p{C}\p{Zl}\p{Zp}]{1,200}(?<! )$/u;

/** `claims` have been checked; of the same name, those of the ID token count. */
export function personOf(claims: Claims, idToken: string, { groupsClaim, nameClaim }: OidcSettings): ProvenPerson | ProviderRefusal {
  const groups = groupsOf(Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined);
  if (groups === undefined) return { refused: 'no_claim', detail: `there is no claim ${groupsClaim} with a list of groups` };
  const name = Object.hasOwn(claims, nameClaim) && isOwn(claims, nameClaim) ? claims[nameClaim] : undefined;
  const isName = typeof name === 'string' && NAME.test(name);
  return { issuer: claims.iss, subject: claims.sub, name: isName ? name : printable(claims.sub), groups, idToken };
}

/** Some providers send a single group as a text. */
function groupsOf(claim: unknown): readonly string[] | undefined {
  if (typeof claim === 'string') return [claim];
  if (!Array.isArray(claim)) return undefined;
  return claim.slice(0, GROUPS_MAX).filter((group): group is string => typeof group === 'string');
}

/** Everyone may write any address into their profile: unverified, it would mask in the audit. */
function isOwn(claims: Claims, nameClaim: string): boolean {
  return nameClaim !== 'email' || claims['email_verified'] !== false;
}

/** By the standard a subject is at most 255 ASCII characters. */
function printable(subject: string): string {
  return subject.replaceAll(/[^\x21-\x7e]/g, '?').slice(0, 255);
}

/** The answer is longer than allowed. */
class LongAnswerError extends Error {
  override name = 'LongAnswerError';
}

type FetchOptions = Omit<RequestInit, 'signal' | 'redirect'> & { readonly signal?: AbortSignal | undefined };

/**
 * Follows no redirects. `deadline` ends every call, also its reading. Rejects as `fetch` does, and
 * with a `LongAnswerError`.
 */
function boundedFetch(bytesMax: number, deadline: AbortSignal) {
  return async (url: string, { signal, ...options }: FetchOptions): Promise<Response> => {
    const ends = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
    const answer = await fetch(url, { ...options, redirect: 'manual', signal: ends });
    const body = await bytesOf(answer, bytesMax);
    const { status, statusText, headers } = answer;
    return new Response(body, { status, statusText, headers });
  };
}

/** `null` for an answer without a body, whose status may allow none. */
async function bytesOf({ body }: Response, bytesMax: number): Promise<Buffer<ArrayBuffer> | null> {
  if (body === null) return null;
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += piece.length;
    // Leaving the loop closes the connection.
    if (bytes > bytesMax) throw new LongAnswerError(`an answer of more than ${bytesMax} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
