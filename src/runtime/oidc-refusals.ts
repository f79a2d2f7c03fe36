// Why openid-client has refused an answer of a provider, in our words: nothing of the answer itself gets into them.
import type * as OpenIdClient from 'openid-client';
import type { ProviderRefusal } from '../domain/sign-in-refusal.ts';
import { LongAnswerError } from './bounded-fetch.ts';

type Errors = Pick<
  typeof OpenIdClient,
  'AuthorizationResponseError' | 'ResponseBodyError' | 'WWWAuthenticateChallengeError' | 'ClientError'
>;

/** Errors of OAuth 2.0 and OpenID Connect that mean that the person has not signed in, and those that pass. */
const DECLINED = new Set(['access_denied', 'login_required', 'consent_required', 'interaction_required', 'account_selection_required']);
const PASSING = new Set(['temporarily_unavailable', 'server_error']);
const WRONG_CLIENT = new Set(['invalid_client', 'unauthorized_client']);
/** An error's name is the only word of a provider that is shown. */
const ERROR_NAME = /^[a-z][a-z_]{0,60}$/;

/** Codes of openid-client for answers that are of no use, whoever has given them. */
const USELESS = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
]);
const ID_TOKEN = new Set([
  'OAUTH_JWT_TIMESTAMP_CHECK_FAILED',
  'OAUTH_JWT_CLAIM_COMPARISON_FAILED',
  'OAUTH_KEY_SELECTION_FAILED',
  'OAUTH_INVALID_RESPONSE',
  'OAUTH_UNSUPPORTED_OPERATION',
]);

/** Every error has an answer: one that is not known counts as the provider's. */
export function refusalOfError(error: unknown, errors: Errors): ProviderRefusal {
  if (error instanceof errors.AuthorizationResponseError) return ofErrorName(error.error, 'sent the browser back with');
  if (error instanceof errors.ResponseBodyError) return ofErrorName(error.error, 'answered the code with');
  if (error instanceof errors.WWWAuthenticateChallengeError) return { refused: 'wrong_client', detail: `status ${error.status}` };
  const causes = causesOf(error);
  const long = causes.find((cause) => cause instanceof LongAnswerError);
  if (long !== undefined) return { refused: 'provider_error', detail: long.message };
  const own = codeOf(error);
  if (error instanceof errors.ClientError || own.startsWith('OAUTH_')) return ofLibraryError(own, causes);
  const code = causes
    .map((cause) => (cause as NodeJS.ErrnoException).code)
    .find((one) => typeof one === 'string' && /^[A-Z_]{2,50}$/.test(one));
  return { refused: 'provider_away', detail: code ?? 'no connection' };
}

function ofErrorName(written: string, what: string): ProviderRefusal {
  const name = ERROR_NAME.test(written) ? written : 'an error of its own';
  const detail = `the provider ${what} ${name}`;
  if (DECLINED.has(name)) return { refused: 'declined', detail };
  if (PASSING.has(name)) return { refused: 'provider_away', detail };
  if (WRONG_CLIENT.has(name)) return { refused: 'wrong_client', detail };
  return { refused: name === 'invalid_grant' ? 'wrong_code' : 'provider_error', detail };
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
}

function ofLibraryError(code: string, causes: readonly Error[]): ProviderRefusal {
  if (code === 'OAUTH_TIMEOUT' || code === 'OAUTH_ABORT') return { refused: 'provider_away', detail: 'no answer in time' };
  if (USELESS.has(code)) return { refused: 'provider_away', detail: statusOf(causes) ?? 'an answer that is not as the standard says' };
  if (code === 'OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED') return ofAttribute(causes);
  if (ID_TOKEN.has(code)) return { refused: 'wrong_id_token', detail: whatFailed(code, causes) };
  return { refused: 'provider_error', detail: /^[A-Z_]{2,60}$/.test(code) ? code.toLowerCase() : 'unknown' };
}

/** Of a discovery document, or of the claims that the provider adds to those of an ID token. */
function ofAttribute(causes: readonly Error[]): ProviderRefusal {
  const isIssuer = causes.some(({ cause }) => (cause as { readonly attribute?: unknown } | undefined)?.attribute === 'issuer');
  if (isIssuer) return { refused: 'wrong_issuer', detail: 'its discovery document names another issuer' };
  return { refused: 'provider_error', detail: 'its claims are of another person than the ID token' };
}

function statusOf(causes: readonly Error[]): string | undefined {
  const answer = causes.map(({ cause }) => cause).find((cause) => cause instanceof Response);
  return answer && `status ${answer.status}`;
}

/** The claims that openid-client compares; a claim's name may not come from the token. */
const COMPARED = new Set(['iss', 'aud', 'nonce', 'azp', 'exp', 'nbf', 'iat', 'auth_time', 'sub', 'typ']);

function whatFailed(code: string, causes: readonly Error[]): string {
  if (code === 'OAUTH_KEY_SELECTION_FAILED') return 'no key of the provider fits its signature';
  const about = causes.map(({ cause }) => cause as { readonly claim?: unknown; readonly header?: unknown } | undefined);
  const claim = about.map((one) => one?.claim).find((one): one is string => typeof one === 'string' && COMPARED.has(one));
  if (claim !== undefined) return `its claim ${claim} is wrong`;
  if (causes.some(({ message }) => message.includes('signature verification failed'))) return 'its signature is wrong';
  if (causes.some(({ message }) => message.includes('"alg"') || message.includes('unsupported JWS algorithm')))
    return 'its signature algorithm is not accepted';
  return 'it is missing, or is not as the standard says';
}

/** The error and what has caused it, from the outside in; bounded. */
function causesOf(error: unknown): readonly Error[] {
  const causes: Error[] = [];
  for (let one = error; one instanceof Error && causes.length < 8; one = one.cause) causes.push(one);
  return causes;
}
