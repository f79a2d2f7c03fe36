// Signing in with an operator's token, and signing out.
import { html } from '../../docs/html.ts';
import { clearedCookie, cookieOf, sessionCookie } from '../sessions.ts';
import { EMPTY_FORM, isOverTls, postForm, textField } from '../form.ts';
import { open, postOwn } from '../console-route.ts';
import type { ConsoleAnswer, ConsoleParts, ConsoleRoute, SignedInVisit, Visit } from '../console-route.ts';

export const SIGN_IN_ROUTES: readonly ConsoleRoute[] = [
  open('GET', '/sign-in', signInPage),
  open('POST', '/sign-in', signIn),
  postOwn('/sign-out', signOut),
];

function signInPage({ request, formToken }: Visit, { sessions }: ConsoleParts): ConsoleAnswer {
  if (sessions.find(cookieOf(request.headers.cookie)) !== undefined) return { kind: 'see', to: '' };
  return { kind: 'page', content: { title: 'Sign in', main: signInForm(formToken, undefined) } };
}

function signIn({ request, form, formToken, requestId }: Visit, { attempts, sessions, log }: ConsoleParts): ConsoleAnswer {
  const address = request.remoteAddress;
  const judgement = attempts.judge(form('token'), address);
  if (typeof judgement === 'object') {
    const before = sessions.find(cookieOf(request.headers.cookie));
    if (before !== undefined) sessions.end(before);
    log.info('an operator has signed in to the console', { operator: judgement.name, address, request_id: requestId });
    return { kind: 'see', to: '', headers: [['Set-Cookie', sessionCookie(sessions.start(judgement), isOverTls(request))]] };
  }
  // Attempts beyond the limit are not logged: someone who keeps trying would fill the log.
  if (judgement === 'wrong') log.warn('a wrong token at the console', { address, request_id: requestId });
  const [status, fault, field] =
    judgement === 'wrong'
      ? ([401, 'This is not a token in the configuration.', ['WWW-Authenticate', 'Bearer']] as const)
      : ([429, 'Too many wrong tokens from this address; wait a minute.', ['Retry-After', '60']] as const);
  return { kind: 'page', status, headers: [field], content: { title: 'Sign in', main: signInForm(formToken, fault) } };
}

function signOut({ session, request }: SignedInVisit, { sessions }: ConsoleParts): ConsoleAnswer {
  sessions.end(session);
  return { kind: 'see', to: '/sign-in', headers: [['Set-Cookie', clearedCookie(isOverTls(request))]] };
}

function signInForm(formToken: string, fault: string | undefined) {
  const hint = 'Your token from the configuration: admin.token, or one of admin.tokens. The session lasts an hour.';
  const more = { autocomplete: 'current-password', maxlength: 1024, ...(fault === undefined ? { autofocus: '' } : {}) };
  const texts = { form: EMPTY_FORM, faults: fault === undefined ? {} : { token: fault } };
  const token = textField(texts, 'token', 'Token', { type: 'password', required: true, hint, more });
  // Password managers store a password with a user name, and browsers warn if there is none.
  const name = html`<input name="username" autocomplete="username" value="operator" hidden />`;
  return html`<h1>Sign in</h1>
    ${postForm({ action: '/sign-in', formToken, fields: html`${name}${token}`, submit: 'Sign in' })}`;
}
