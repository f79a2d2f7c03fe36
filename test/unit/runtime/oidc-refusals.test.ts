// Each error of openid-client becomes a refusal in our words, whatever a provider writes into it.
import * as library from 'openid-client';
import { expect, test } from 'vitest';
import { LongAnswerError } from '../../../src/runtime/bounded-fetch.ts';
import { refusalOfError } from '../../../src/runtime/oidc-refusals.ts';

const sentBack = (error: string): Error =>
  new library.AuthorizationResponseError('words', { cause: new URLSearchParams({ error, error_description: 'words of the provider' }) });
const answered = (error: string): Error =>
  new library.ResponseBodyError('words', { cause: { error, error_description: 'words of the provider' }, response: new Response() });
const client = (code: string, cause?: unknown): Error => Object.assign(new library.ClientError('words', { cause }), { code });
const about = (cause: unknown): Error => new Error('words', { cause });

test.each<[string, unknown, string, RegExp]>([
  ['a refusal', sentBack('access_denied'), 'declined', /access_denied$/],
  ['a login that is missing', sentBack('login_required'), 'declined', /login_required$/],
  ['a server that is busy', sentBack('temporarily_unavailable'), 'provider_away', /temporarily_unavailable$/],
  ['an unknown scope', sentBack('invalid_scope'), 'provider_error', /invalid_scope$/],
  ['an error that is none', sentBack('<b>words of the provider</b>'), 'provider_error', /an error of its own$/],
  ['a used code', answered('invalid_grant'), 'wrong_code', /invalid_grant$/],
  ['a wrong secret', answered('invalid_client'), 'wrong_client', /invalid_client$/],
  ['no time left', client('OAUTH_TIMEOUT'), 'provider_away', /^no answer in time$/],
  ['a status', client('OAUTH_RESPONSE_IS_NOT_CONFORM', about(new Response(null, { status: 502 }))), 'provider_away', /^status 502$/],
  ['no JSON', client('OAUTH_PARSE_ERROR', new SyntaxError('words of the provider')), 'provider_away', /not as the standard says$/],
  ['another nonce', client('OAUTH_JWT_CLAIM_COMPARISON_FAILED', about({ claim: 'nonce' })), 'wrong_id_token', /^its claim nonce is wrong$/],
  ['a claim of its own', client('OAUTH_JWT_CLAIM_COMPARISON_FAILED', about({ claim: 'words' })), 'wrong_id_token', /^it is missing/],
  [
    'a signature',
    client('OAUTH_INVALID_RESPONSE', new Error('JWT signature verification failed')),
    'wrong_id_token',
    /^its signature is wrong$/,
  ],
  [
    'an algorithm',
    client('OAUTH_UNSUPPORTED_OPERATION', new Error('unsupported JWS algorithm')),
    'wrong_id_token',
    /algorithm is not accepted$/,
  ],
  ['an unknown key', client('OAUTH_KEY_SELECTION_FAILED'), 'wrong_id_token', /^no key of the provider fits/],
  ['another issuer', client('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', { attribute: 'issuer' }), 'wrong_issuer', /discovery document/],
  ['another person', client('OAUTH_JSON_ATTRIBUTE_COMPARISON_FAILED', about({ attribute: 'sub' })), 'provider_error', /another person/],
  ['a long answer', client('', new LongAnswerError('an answer of more than 5 bytes')), 'provider_error', /more than 5 bytes/],
  [
    'nobody there',
    new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
    'provider_away',
    /^ECONNREFUSED$/,
  ],
  ['anything else', 'words of the provider', 'provider_away', /^no connection$/],
  ['an error of the library', client('OAUTH_MISSING_SERVER_METADATA'), 'provider_error', /^oauth_missing_server_metadata$/],
])('%s', (_what, error, refused, detail) => {
  const refusal = refusalOfError(error, library);
  expect(refusal).toEqual({ refused, detail: expect.stringMatching(detail) as string });
  expect(refusal.detail).not.toContain('words of');
});
