// Signing in with an operator's token or at an OpenID provider, and the answers to refused sign-ins;
// and signing out, here and at the provider.
import type { KnownOperator } from '../../admin/operators.ts';
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { cookieOf, isSame, sessionCookie } from '../sessions.ts';
import { EMPTY_FORM, fieldOf, isOverTls, postForm } from '../form.ts';
import type { Field, FieldFaults } from '../form.ts';
import { CONSOLE_PREFIX, open, postOwn } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleOidc, ConsoleRoute, SignedInVisit, Visit } from '../console-route.ts';
import { refuse } from '../../core/problem.ts';
import type { ProvenPerson } from '../../domain/operator.ts';
import { answering, isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import { ATTEMPT_MS } from '../oidc-attempts.ts';
import type { OidcAttempt } from '../oidc-attempts.ts';
import type { OidcRefusal } from '../oidc-provider.ts';

export const SIGN_IN_ROUTES: readonly ConsoleRoute[] = [
  open('GET', '/sign-in', (visit) => (visit.session === undefined ? signInPage(visit) : HOME)),
  open('POST', '/sign-in', signIn),
  postOwn('/sign-out', signOut),
  open('GET', '/oidc/start', (visit) => withProvider(visit, start)),
  open('GET', '/oidc/callback', (visit) => withProvider(visit, comeBack)),
];

const HOME = { kind: 'see', to: '' } as const;

async function signIn(visit: Visit): Promise<ConsoleAnswer> {
  const { request, requestId, form, operators, wrongTokens, log, signIns } = visit;
  const address = request.remoteAddress;
  const operator = operators.byToken(form('token'));
  if (operator !== undefined) return { ...HOME, cookies: [await sessionOf(operator, isOverTls(request), visit)] };
  // Attempts beyond the limit are not logged: someone who keeps trying would fill the log.
  if (wrongTokens.add(address)) {
    const page = signInPage(visit, 'Too many wrong tokens from this address; wait a minute.');
    return { ...page, status: 429, headers: [['Retry-After', '60']] };
  }
  log.warn('a wrong token at the console', { address, request_id: requestId });
  await signIns.refused({ via: 'token', refused: 'wrong_token' }, address);
  const page = signInPage(visit, 'This is not a token in the configuration.');
  return { ...page, status: 401, headers: [['WWW-Authenticate', 'Bearer']] };
}

/** The cookie of a new session, instead of the one before. */
async function sessionOf(operator: KnownOperator, secure: boolean, visit: Visit): Promise<string> {
  const { request, requestId, session: before, sessions, log, signIns } = visit;
  const { name, role } = operator;
  const address = request.remoteAddress;
  if (before !== undefined) sessions.end(before);
  log.info('an operator has signed in to the console', { operator: name, role, address, request_id: requestId });
  await signIns.signedIn(operator, address);
  return sessionCookie(sessions.start(operator), secure);
}

async function signOut({ session, request, sessions, signIns, oidc }: SignedInVisit): Promise<ConsoleAnswer> {
  sessions.end(session);
  await signIns.signedOut(session.operator, request.remoteAddress);
  const { by } = session.operator;
  const url = by.kind === 'person' ? by.person.signOutUrl : undefined;
  const cookies = [sessionCookie('', isOverTls(request))];
  if (oidc === undefined || url === undefined) return { kind: 'see', to: '/sign-in', cookies };
  // A page, because the answer to a form may not lead to another site (`form-action`).
  const main = html`<h1>You are signed out here</h1>
    <p><a class="button primary" href="${url}">Sign out of ${hostOf(oidc)} too</a></p>
    <p><a href="${CONSOLE_PREFIX}/sign-in">Back to the sign-in</a></p>`;
  return { kind: 'page', cookies, content: { title: 'Signed out', main, leadsTo: url } };
}

function signInPage({ formToken, oidc, operators }: Visit, fault?: string) {
  // A link: a form would not be let through to another site.
  const atProvider = oidc && html`<p><a class="button primary" href="${CONSOLE_PREFIX}/oidc/start">Sign in with ${hostOf(oidc)}</a></p>`;
  const byToken = oidc === undefined || operators.hasTokens ? tokenForm(formToken, oidc === undefined, fault) : undefined;
  const main = html`<h1>Sign in</h1>
    ${atProvider} ${byToken}`;
  return { kind: 'page', content: { title: 'Sign in', main } } as const;
}

function tokenForm(formToken: string, isOnly: boolean, fault: string | undefined): Html {
  const hint = 'Your token from the configuration: admin.token, or one of admin.tokens. The session lasts an hour.';
  const focused: Field['attributes'] = fault === undefined && isOnly ? { autofocus: '' } : {};
  const attributes = { type: 'password', autocomplete: 'current-password', maxlength: 1024, ...focused };
  const faults: FieldFaults = fault === undefined ? {} : { token: fault };
  const token = fieldOf({ name: 'token', label: 'Token', required: true, hint, attributes }, { form: EMPTY_FORM, faults });
  // Password managers store a password with a user name, and browsers warn if there is none.
  const name = html`<input name="username" autocomplete="username" value="operator" hidden />`;
  return html`${isOnly ? undefined : html`<h2>With a token</h2>`}
  ${postForm({ action: '/sign-in', formToken, fields: html`${name}${token}`, submit: isOnly ? 'Sign in' : 'Sign in with the token' })}`;
}

const NO_PROVIDER = refuse('not_found', 'This console has no sign-in by a provider: admin.oidc is not configured.');

/** At the provider. */
interface ProviderVisit extends Visit {
  readonly oidc: ConsoleOidc;
}

async function withProvider(visit: Visit, handle: (visit: ProviderVisit) => Promise<ConsoleAnswer>): Promise<ConsoleAnswer> {
  const { oidc } = visit;
  if (oidc === undefined) return NO_PROVIDER;
  const here = { ...visit, oidc };
  const answer = await answering(() => handle(here));
  return isUnavailable(answer) ? refusedBy(away(answer), here) : answer;
}

function away({ cause }: StoreUnavailable): OidcRefusal {
  return { refused: 'store_away', detail: cause };
}

/** Nothing of the request decides where the browser is sent. */
async function start(visit: ProviderVisit): Promise<ConsoleAnswer> {
  const { session, oidc } = visit;
  if (session !== undefined) return HOME;
  const attempt = await oidc.attempts.begin();
  const url = await oidc.provider.authorizationUrl(attempt);
  if (typeof url !== 'string') return refusedBy(url, visit);
  return { kind: 'see', to: url, cookies: [attemptCookie(attempt.seed, ATTEMPT_MS / 1000, oidc)] };
}

async function comeBack(visit: ProviderVisit): Promise<ConsoleAnswer> {
  const { request, oidc } = visit;
  const attempt = await attemptOfBrowser(visit);
  if (attempt === undefined) return refusedBy({ refused: 'wrong_state', detail: 'no attempt of this browser' }, visit);
  const cookies = [attemptCookie('', 0, oidc)];
  // Those that got this far cost calls to store and provider.
  if (oidc.failures.ofAttempts.isFull(request.remoteAddress)) return tooManySignIns(visit, cookies);
  const operator = await operatorOf(attempt, visit);
  if ('refused' in operator) return refusedBy(operator, visit, cookies);
  const cookie = await sessionOf(operator, isSecure(oidc), visit);
  // No redirect: the browser sends the session's cookie, `SameSite=Strict`, only to where a page
  // of this site leads it.
  const main = html`<h1>You are signed in</h1>
    <p><a class="button primary" href="${CONSOLE_PREFIX}">To the console</a></p>`;
  // The code in this page's address has been used; it is nobody's business all the same.
  const headers = [['Referrer-Policy', 'no-referrer']] as const;
  return { kind: 'page', headers, cookies: [...cookies, cookie], content: { title: 'Signed in', main, leadsTo: CONSOLE_PREFIX } };
}

/** The one whose state the answer carries, if this browser has begun it. */
async function attemptOfBrowser({ request, oidc }: ProviderVisit): Promise<OidcAttempt | undefined> {
  const [state, ...others] = request.query.getAll('state');
  const seed = cookieOf(request.headers.cookie, attemptName(oidc));
  if (state === undefined || others.length > 0 || seed === undefined) return undefined;
  const attempt = await oidc.attempts.resume(seed);
  return attempt !== undefined && isSame(state, attempt.state) ? attempt : undefined;
}

interface Why extends OidcRefusal {
  /** Whom the provider has named. */
  readonly person?: ProvenPerson;
}

async function operatorOf(attempt: OidcAttempt, { request, oidc, operators }: ProviderVisit): Promise<KnownOperator | Why> {
  const isFirst = await answering(() => oidc.attempts.use(attempt));
  if (isUnavailable(isFirst)) return away(isFirst);
  if (!isFirst) return { refused: 'used_before', detail: 'the attempt has come back before' };
  const person = await oidc.provider.identify(request.query, attempt);
  if ('refused' in person) return person;
  return operators.byPerson(person) ?? { refused: 'no_group', detail: 'none of the groups has a role', person };
}

/** `cookies` are those of a browser that had begun the attempt. Beyond the limit of its address, a refusal is neither logged nor recorded. */
async function refusedBy({ refused, detail, person }: Why, visit: ProviderVisit, cookies?: readonly string[]): Promise<ConsoleAnswer> {
  const { oidc, requestId, request, log, signIns } = visit;
  const address = request.remoteAddress;
  const failures = cookies === undefined ? oidc.failures.ofStrangers : oidc.failures.ofAttempts;
  if (failures.add(address)) return tooManySignIns(visit, cookies);
  log.warn('a sign-in by the provider was refused', { refused, detail, operator: person?.name, address, request_id: requestId });
  await signIns.refused({ via: 'oidc', refused, person }, address);
  const [status, what, advice] = WORDS[refused];
  const parts = what.split(/(PROVIDER|NAME)/).map((part) => {
    if (part === 'NAME') return html`<strong>${person?.name}</strong>`;
    return part === 'PROVIDER' ? hostOf(oidc) : part;
  });
  return refusalPage(status, html`${parts} ${advice}`, refused, visit, cookies);
}

/** After too many refused ones from an address. */
function tooManySignIns(visit: Visit, cookies?: readonly string[]): ConsoleAnswer {
  const words = html`Too many sign-ins from this address were refused; wait a minute.`;
  return { ...refusalPage(429, words, 'rate_limited', visit, cookies), headers: [['Retry-After', '60']] };
}

function refusalPage(status: number, words: Html, code: string, { requestId }: Visit, cookies?: readonly string[]) {
  const main = html`<h1>You are not signed in</h1>
    <p>${words}</p>
    <p><a class="button" href="${CONSOLE_PREFIX}/sign-in">Back to the sign-in</a></p>
    <p class="soft"><code>${code}</code>, request <code>${requestId}</code></p>`;
  return { kind: 'page', status, cookies, content: { title: 'Not signed in', main } } as const;
}

/** The provider as people know it. */
function hostOf({ settings }: ConsoleOidc): string {
  return new URL(settings().issuer).host;
}

function isSecure({ settings }: ConsoleOidc): boolean {
  return settings().consoleUrl.startsWith('https:');
}

/** Browsers accept this prefix only from this host itself, over TLS: no neighbour plants one. */
function attemptName(oidc: ConsoleOidc): string {
  return `${isSecure(oidc) ? '__Host-' : ''}lingate_sign_in`;
}

/** Of the latest attempt of the browser. `Lax`: it comes back from another site. */
function attemptCookie(seed: string, seconds: number, oidc: ConsoleOidc): string {
  const where = isSecure(oidc) ? 'Path=/; Secure' : `Path=${CONSOLE_PREFIX}/oidc`;
  return `${attemptName(oidc)}=${seed}; ${where}; HttpOnly; SameSite=Lax; Max-Age=${seconds}`;
}

const AGAIN = 'Begin again.';
const ASK_OPERATOR = 'The gateway’s log has the details; tell whoever runs it.';
const TOKEN_WORKS = 'Try again in a minute. Signing in with a token works meanwhile.';

/** Status, what happened, and what to do. `PROVIDER` and `NAME` stand for those of the sign-in. */
const WORDS: Readonly<Record<OidcRefusal['refused'], readonly [status: number, what: string, advice: string]>> = {
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
};
