// Signing in with an operator's token, and signing out, here and at the provider.
import { html } from '../../docs/html.ts';
import type { Html } from '../../docs/html.ts';
import { clearedCookie, cookieOf, sessionCookie } from '../sessions.ts';
import { EMPTY_FORM, isOverTls, postForm, textField } from '../form.ts';
import type { FieldTexts } from '../form.ts';
import { CONSOLE_PREFIX, open, postOwn } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit, Visit } from '../console-route.ts';
import { hostOf } from './oidc-sign-in.ts';

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
