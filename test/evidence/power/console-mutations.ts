// Planted bugs in the console: access, forms, displayed content, and repeated forms.
import type { Mutation, TestRun } from './mutation.ts';

const SIGN_IN: TestRun = { file: 'test/unit/console/sessions.test.ts' };

function guards(names: string): TestRun {
  return { file: 'test/journey/console-guards.test.ts', names };
}

function forms(names: string): TestRun {
  return { file: 'test/journey/console-forms.test.ts', names };
}

function bug(name: string, where: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name: `console: ${name}`, edits: [{ where, find, replace }], caughtBy: [caughtBy] };
}

const WHY: TestRun = { file: 'test/journey/why-it-failed.test.ts', names: 'is found in the console' };

export const CONSOLE_MUTATIONS: readonly Mutation[] = [
  bug('a name does not mean its team while another contains it', 'teamMeant', 'named.length > 0 ? named : await', 'await', WHY),
  bug('a time of day may be in the future', 'momentOf in requests.ts', 'atMs > nowMs ? atMs - DAY_MS : atMs', 'atMs', {
    file: 'test/unit/admin/request-filter.test.ts',
  }),
  bug("a plugin's refusals are failures", 'outcomeOf in overview-figures.ts', 'pluginStatuses.get(code) ?? 500', '500', {
    file: 'test/unit/console/overview-figures.test.ts',
  }),
  bug(
    'a form needs no anti-forgery token',
    'Console.#isOurs',
    'session !== undefined && isSame(token, session.formToken)',
    'session !== undefined',
    guards('a forged form'),
  ),
  bug('a form may come from anywhere', 'isFromHere', "site !== 'same-origin' && site !== 'none'", "site === 'none'", {
    file: 'test/unit/console/form.test.ts',
  }),
  bug(
    'a session never ends',
    'Sessions.find',
    'kept.untilMs > this.#now() ? this.#operators.now(kept.session.operator) : undefined',
    'this.#operators.now(kept.session.operator)',
    SIGN_IN,
  ),
  bug('a session outlives its end', 'signOut', 'sessions.end(session);', '', guards('signing out')),
  bug('a new key is shown again', 'newSession.take', 'notices.delete(name);', '', SIGN_IN),
  bug('the token of the sign-in form is for ever', 'SignInFormTokens.isGood', ' && ageMs < GOOD_MS', '', SIGN_IN),
  bug(
    'wrong tokens are not counted by address',
    'signIn',
    "attempts.judge(form('token'), address)",
    "attempts.judge(form('token'), requestId)",
    guards('1,000 wrong tokens'),
  ),
  bug(
    'the listener answers to any name',
    'answerTo in ops-listener.ts',
    'names !== undefined && !isCalledByOwnName',
    'names === null && !isCalledByOwnName',
    guards('not the listener’s own'),
  ),
  bug(
    'a text is put into a page as it came',
    'textOf in html.ts',
    'return escape(String(value));',
    'return String(value);',
    guards('what a query holds'),
  ),
  bug(
    'a form that is sent twice acts twice',
    'Console.#once',
    'if (session === undefined || !IDEMPOTENCY_KEY.test(name)) return run();',
    'if (name !== undefined) return run();',
    forms('sent twice'),
  ),
  bug('any page may frame it', 'CONSOLE_SECURITY', '  "frame-ancestors \'none\'",\n', '', guards('every answer forbids framing')),
  bug(
    'a revocation leaves no audit line',
    'revoke',
    "audit(parts, visit, 'revokeKey', { team_id: team.teamId, key_id: key.keyId });",
    '',
    forms('audit line'),
  ),
];
