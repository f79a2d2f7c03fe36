// Signing in at an OpenID provider: the way there, and the way back.
import { html } from '../../docs/html.ts';
import { refuse } from '../../core/problem.ts';
import type { ProviderRefusal, SignInRefusal, SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { isUnavailable } from '../../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../domain/store-unavailable.ts';
import type { ProvenPerson } from '../../ports/identity-provider.ts';
import { attemptCookies, droppedAttempt, keptAttempt } from '../attempt-cookies.ts';
import { CONSOLE_PREFIX, open } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleOidc, ConsoleParts, ConsoleRoute, Visit } from '../console-route.ts';
import { refusedSignIn, tooManySignIns } from '../refused-sign-in.ts';
import type { RefusedAt } from '../refused-sign-in.ts';
import { cookieOf, isSame, sessionCookie } from '../sessions.ts';

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
  const { cookie } = visit.request.headers;
  if (parts.sessions.find(cookieOf(cookie)) !== undefined) return { kind: 'see', to: '' };
  const begun = await oidc.attempts.begin();
  if (isUnavailable(begun)) return refusedBy(begun, visit, parts, oidc);
  const url = await oidc.provider.authorizationUrl(begun.attempt);
  if (typeof url !== 'string') return refusedBy(url, visit, parts, oidc);
  return { kind: 'leave', url, cookies: attemptCookies(cookie, begun.attempt, begun.stored, isSecure(oidc)) };
}

async function comeBack(visit: Visit, parts: ConsoleParts, oidc: ConsoleOidc): Promise<ConsoleAnswer> {
  const { request } = visit;
  const attempt = await attemptOfBrowser(visit, oidc);
  if (isUnavailable(attempt)) return refusedBy(attempt, visit, parts, oidc);
  if (attempt === undefined) return refusedBy({ refused: 'wrong_state', detail: 'no attempt of this browser' }, visit, parts, oidc);
  const cookies = [droppedAttempt(attempt.state, isSecure(oidc))];
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
  const stored = keptAttempt(request.headers.cookie, state, isSecure(oidc));
  const attempt = stored === undefined ? undefined : await oidc.attempts.resume(stored);
  return attempt === undefined || isUnavailable(attempt) || isSame(state, attempt.state) ? attempt : undefined;
}

/**
 * A page, and not a redirect: the browser sends the session's cookie, which is `SameSite=Strict`, only to where a page of this site
 * leads it.
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
export function hostOf({ settings }: ConsoleOidc): string {
  return new URL(settings().issuer).host;
}

function isSecure({ settings }: ConsoleOidc): boolean {
  return settings().consoleUrl.startsWith('https:');
}
