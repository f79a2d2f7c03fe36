// Signing in with an operator's token or at an OpenID provider, with the cookies of attempts and
// the page that a refused one gets; and signing out, here and at the provider.
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { clearedCookie, cookieOf, isSame, sessionCookie } from '../sessions.ts';
import { EMPTY_FORM, isOverTls, postForm, textField } from '../form.ts';
import type { FieldTexts } from '../form.ts';
import { CONSOLE_PREFIX, open, postOwn } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleOidc, ConsoleParts, ConsoleRoute, SignedInVisit, Visit } from '../console-route.ts';
import { refuse } from '../../core/problem.ts';
import type { ProviderRefusal, SignInRefusal, SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { ProvenPerson } from '../../ports/identity-provider.ts';
import { ATTEMPT_MS } from '../../domain/sign-in-attempt.ts';

export const SIGN_IN_ROUTES: readonly ConsoleRoute[] = [
  open('GET', '/sign-in', signInPage),
  open('POST', '/sign-in', signIn),
  postOwn('/sign-out', signOut),
];

function signInPage({ request, formToken }: Visit, parts: ConsoleParts): ConsoleAnswer {
  if (parts.sessions.find(cookieOf(request.headers.cookie)) !== undefined) return { kind: 'see', to: '' };
  return { kind: 'page', content: { title: 'Sign in', main: signInForm(formToken, parts, undefined) } };
}

async function signIn({ request, form, formToken, requestId }: Visit, parts: ConsoleParts): Promise<ConsoleAnswer> {
  const { attempts, sessions, log, signIns } = parts;
  const address = request.remoteAddress;
  const judgement = attempts.judge(form('token'), address);
  if (typeof judgement === 'object') {
    const before = sessions.find(cookieOf(request.headers.cookie));
    if (before !== undefined) sessions.end(before);
    log.info('an operator has signed in to the console', { operator: judgement.name, address, request_id: requestId });
    await signIns.signedIn(judgement, address);
    return { kind: 'see', to: '', headers: [['Set-Cookie', sessionCookie(sessions.start(judgement), isOverTls(request))]] };
  }
  // Attempts beyond the limit are not logged: someone who keeps trying would fill the log.
  if (judgement === 'wrong') {
    log.warn('a wrong token at the console', { address, request_id: requestId });
    await signIns.refused({ via: 'token', refused: 'wrong_token' }, address);
  }
  const [status, fault, field] =
    judgement === 'wrong'
      ? ([401, 'This is not a token in the configuration.', ['WWW-Authenticate', 'Bearer']] as const)
      : ([429, 'Too many wrong tokens from this address; wait a minute.', ['Retry-After', '60']] as const);
  return { kind: 'page', status, headers: [field], content: { title: 'Sign in', main: signInForm(formToken, parts, fault) } };
}

async function signOut({ session, request }: SignedInVisit, { sessions, signIns, oidc }: ConsoleParts): Promise<ConsoleAnswer> {
  sessions.end(session);
  await signIns.signedOut(session.operator, request.remoteAddress);
  const { by } = session.operator;
  const url = by.kind === 'person' ? oidc?.provider.signOutUrl(by.person) : undefined;
  const cookie = clearedCookie(isOverTls(request));
  if (oidc === undefined || url === undefined) return { kind: 'see', to: '/sign-in', headers: [['Set-Cookie', cookie]] };
  return { kind: 'page', cookies: [cookie], content: { title: 'Signed out', main: signedOut(hostOf(oidc), url), leadsTo: url } };
}

/** A page, because the answer to a form may not lead to another site (`form-action`). */
function signedOut(provider: string, url: string): Html {
  return html`<h1>You are signed out here</h1>
    <p><a class="button primary" href="${url}">Sign out of ${provider} too</a></p>
    <p><a href="${CONSOLE_PREFIX}/sign-in">Back to the sign-in</a></p>`;
}

function signInForm(formToken: string, { oidc, operators }: ConsoleParts, fault: string | undefined): Html {
  const byToken = oidc === undefined || operators.hasTokens ? tokenForm(formToken, oidc === undefined, fault) : undefined;
  return html`<h1>Sign in</h1>
    ${oidc === undefined ? undefined : providerLink(hostOf(oidc))} ${byToken}`;
}

/** A link: a form would not be let through to another site. */
function providerLink(provider: string): Html {
  return html`<p><a class="button primary" href="${CONSOLE_PREFIX}/oidc/start">Sign in with ${provider}</a></p>`;
}

function tokenForm(formToken: string, isOnly: boolean, fault: string | undefined): Html {
  const hint = 'Your token from the configuration: admin.token, or one of admin.tokens. The session lasts an hour.';
  const more = { autocomplete: 'current-password', maxlength: 1024, ...(fault === undefined && isOnly ? { autofocus: '' } : {}) };
  const texts: FieldTexts = { form: EMPTY_FORM, faults: fault === undefined ? {} : { token: fault } };
  const token = textField(texts, 'token', 'Token', { type: 'password', required: true, hint, more });
  // Password managers store a password with a user name, and browsers warn if there is none.
  const name = html`<input name="username" autocomplete="username" value="operator" hidden />`;
  return html`${isOnly ? undefined : html`<h2>With a token</h2>`}
  ${postForm({ action: '/sign-in', formToken, fields: html`${name}${token}`, submit: isOnly ? 'Sign in' : 'Sign in with the token' })}`;
}

export const OIDC_ROUTES: readonly ConsoleRoute[] = [
  open('GET', '/oidc/start', (visit, parts) => withProvider(parts, (oidc) => start(visit, parts, oidc))),
  open('GET', '/oidc/callback', (visit, parts) => withProvider(parts, (oidc) => comeBack(visit, parts, oidc))),
];

const NO_PROVIDER = refuse('not_found', 'This console has no sign-in by a provider: admin.oidc is not configured.');

function withProvider(
  { oidc }: ConsoleParts,
  handle: (oidc: ConsoleOidc) => Promise<ConsoleAnswer>,
): ConsoleAnswer | Promise<ConsoleAnswer> {
  return oidc === undefined ? NO_PROVIDER : handle(oidc);
}

/** Nothing of the request decides where the browser is sent. */
async function start(visit: Visit, parts: ConsoleParts, oidc: ConsoleOidc): Promise<ConsoleAnswer> {
  if (parts.sessions.find(cookieOf(visit.request.headers.cookie)) !== undefined) return { kind: 'see', to: '' };
  const begun = await oidc.attempts.begin();
  if (isUnavailable(begun)) return refusedBy(begun, visit, parts, oidc);
  const url = await oidc.provider.authorizationUrl(begun.attempt);
  if (typeof url !== 'string') return refusedBy(url, visit, parts, oidc);
  return { kind: 'leave', url, cookies: [attemptCookie(begun.stored, ATTEMPT_MS / 1000, isSecure(oidc))] };
}

async function comeBack(visit: Visit, parts: ConsoleParts, oidc: ConsoleOidc): Promise<ConsoleAnswer> {
  const { request } = visit;
  const attempt = await attemptOfBrowser(visit, oidc);
  if (isUnavailable(attempt)) return refusedBy(attempt, visit, parts, oidc);
  if (attempt === undefined) return refusedBy({ refused: 'wrong_state', detail: 'no attempt of this browser' }, visit, parts, oidc);
  const cookies = [attemptCookie('', 0, isSecure(oidc))];
  const refuseAttempt = (why: Why | StoreUnavailable, person?: ProvenPerson): Promise<ConsoleAnswer> =>
    refusedBy(why, visit, parts, oidc, { cookies, person });
  // Those that got this far cost calls to store and provider.
  if (oidc.failures.ofAttempts.isFull(request.remoteAddress)) return tooManySignIns({ ...refusedAt(visit, oidc), cookies });
  const isFirst = await oidc.attempts.use(attempt);
  if (isUnavailable(isFirst)) return refuseAttempt(isFirst);
  if (!isFirst) return refuseAttempt({ refused: 'used_before', detail: 'the attempt has come back before' });
  const person = await oidc.provider.identify(request.query, attempt);
  if ('refused' in person) return refuseAttempt(person);
  const operator = parts.operators.byPerson(person);
  if (operator === undefined) return refuseAttempt({ refused: 'no_group', detail: 'none of the groups has a role' }, person);
  const before = parts.sessions.find(cookieOf(request.headers.cookie));
  if (before !== undefined) parts.sessions.end(before);
  const { name, role } = operator;
  parts.log.info('an operator has signed in to the console', {
    operator: name,
    role,
    address: request.remoteAddress,
    request_id: visit.requestId,
  });
  await parts.signIns.signedIn(operator, request.remoteAddress);
  return signedInPage([...cookies, sessionCookie(parts.sessions.start(operator), isSecure(oidc))]);
}

/** The one whose state the answer carries, if this browser has begun it. */
async function attemptOfBrowser({ request }: Visit, oidc: ConsoleOidc): Promise<SignInAttempt | undefined | StoreUnavailable> {
  const [state, ...others] = request.query.getAll('state');
  if (state === undefined || others.length > 0) return undefined;
  const stored = cookieOf(request.headers.cookie, attemptName(isSecure(oidc)));
  const attempt = stored === undefined ? undefined : await oidc.attempts.resume(stored);
  return attempt === undefined || isUnavailable(attempt) || isSame(state, attempt.state) ? attempt : undefined;
}

/**
 * No redirect: the browser sends the session's cookie, `SameSite=Strict`, only to where a page of
 * this site leads it.
 */
function signedInPage(cookies: readonly string[]): ConsoleAnswer {
  const main = html`<h1>You are signed in</h1>
    <p><a class="button primary" href="${CONSOLE_PREFIX}">To the console</a></p>`;
  // The code in this page's address has been used; it is nobody's business all the same.
  const headers = [['Referrer-Policy', 'no-referrer']] as const;
  return { kind: 'page', headers, cookies, content: { title: 'Signed in', main, leadsTo: CONSOLE_PREFIX } };
}

interface Why extends Omit<ProviderRefusal, 'refused'> {
  readonly refused: Exclude<SignInRefusal, 'wrong_token'>;
}

interface Refused {
  readonly cookies?: readonly string[];
  readonly person?: ProvenPerson | undefined;
}

/** Beyond the limit of its address, a refusal is neither logged nor recorded. */
async function refusedBy(
  why: Why | StoreUnavailable,
  visit: Visit,
  { log, signIns }: ConsoleParts,
  oidc: ConsoleOidc,
  { cookies, person }: Refused = {},
): Promise<ConsoleAnswer> {
  const { remoteAddress: address } = visit.request;
  const { refused, detail } = 'refused' in why ? why : ({ refused: 'store_away', detail: why.cause } as const);
  const at: RefusedAt = { ...refusedAt(visit, oidc), name: person?.name, ...(cookies === undefined ? {} : { cookies }) };
  const failures = cookies === undefined ? oidc.failures.ofStrangers : oidc.failures.ofAttempts;
  if (failures.add(address)) return tooManySignIns(at);
  const who = person === undefined ? {} : { operator: person.name };
  log.warn('a sign-in by the provider was refused', { refused, detail, ...who, address, request_id: visit.requestId });
  await signIns.refused({ via: 'oidc', refused, person }, address);
  return refusedSignIn(refused, at);
}

function refusedAt({ requestId }: Visit, oidc: ConsoleOidc): RefusedAt {
  return { provider: hostOf(oidc), requestId };
}

/** The provider as people know it. */
function hostOf({ settings }: ConsoleOidc): string {
  return new URL(settings().issuer).host;
}

function isSecure({ settings }: ConsoleOidc): boolean {
  return settings().consoleUrl.startsWith('https:');
}

/** Browsers accept this prefix only from this host itself, over TLS: no neighbour plants one. */
function attemptName(secure: boolean): string {
  return `${secure ? '__Host-' : ''}lingate_sign_in`;
}

/** Of the latest attempt of the browser. `Lax`: it comes back from another site. */
function attemptCookie(value: string, seconds: number, secure: boolean): string {
  const where = secure ? 'Path=/; Secure' : `Path=${CONSOLE_PREFIX}/oidc`;
  return `${attemptName(secure)}=${value}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
}

interface RefusedAt {
  /** The host of the provider. */
  readonly provider: string;
  readonly requestId: string;
  /** Of the person, if the provider has named one. */
  readonly name?: string | undefined;
  readonly cookies?: readonly string[];
}

const AGAIN = 'Begin again.';
const ASK_OPERATOR = 'The gateway’s log has the details; tell whoever runs it.';
const TOKEN_WORKS = 'Try again in a minute. Signing in with a token works meanwhile.';

/** Status, what happened, and what to do. `PROVIDER` and `NAME` stand for those of the sign-in. */
const WORDS = {
  wrong_state: [400, 'This does not belong to the sign-in that was last begun in this browser, or it took longer than ten minutes.', AGAIN],
  used_before: [400, 'This sign-in has been used before.', AGAIN],
  declined: [403, 'The sign-in was cancelled, or PROVIDER has refused it.', AGAIN],
  wrong_issuer: [400, 'The answer did not come from PROVIDER.', ASK_OPERATOR],
  wrong_code: [400, 'PROVIDER did not accept its own code: it was used before, or is too old.', AGAIN],
  wrong_client: [503, 'PROVIDER did not accept this gateway: its client_id or client_secret is wrong.', ASK_OPERATOR],
  wrong_id_token: [400, 'The proof that PROVIDER has sent did not pass the checks.', ASK_OPERATOR],
  provider_error: [503, 'PROVIDER has answered with an error.', ASK_OPERATOR],
  provider_away: [503, 'PROVIDER does not answer.', TOKEN_WORKS],
  no_claim: [403, 'PROVIDER did not say in which groups you are.', ASK_OPERATOR],
  no_group: [
    403,
    'PROVIDER knows you as NAME, but none of your groups may use this console.',
    'Ask whoever runs this gateway to give one of your groups a role.',
  ],
  store_away: [503, 'The gateway’s store does not answer.', TOKEN_WORKS],
  // A wrong token is reported at its field.
} as const satisfies Readonly<Record<Exclude<SignInRefusal, 'wrong_token'>, readonly [number, string, string]>>;

function refusedSignIn(refused: keyof typeof WORDS, at: RefusedAt): ConsoleAnswer {
  const [status, what, advice] = WORDS[refused];
  const parts = what.split(/(PROVIDER|NAME)/).map((part) => {
    if (part === 'NAME') return html`<strong>${at.name}</strong>`;
    return part === 'PROVIDER' ? at.provider : part;
  });
  return refusalPage(status, html`${parts.map((part) => html`${part}`)} ${advice}`, refused, at);
}

/** After too many refused ones from an address. */
function tooManySignIns(at: RefusedAt): ConsoleAnswer {
  const page = refusalPage(429, html`Too many sign-ins from this address were refused; wait a minute.`, 'rate_limited', at);
  return { ...page, headers: [['Retry-After', '60']] };
}

function refusalPage(status: number, words: Html, code: string, { requestId, cookies = [] }: RefusedAt) {
  const main = html`<h1>You are not signed in</h1>
    <p>${words}</p>
    <p><a class="button" href="${CONSOLE_PREFIX}/sign-in">Back to the sign-in</a></p>
    <p class="soft"><code>${code}</code>, request <code>${requestId}</code></p>`;
  return { kind: 'page', status, cookies, content: { title: 'Not signed in', main } } as const;
}
