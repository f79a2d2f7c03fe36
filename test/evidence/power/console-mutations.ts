// Planted bugs in the console: access, forms, displayed content, and repeated forms.
import type { Mutation, TestRun } from './mutation.ts';

const SIGN_IN: TestRun = { file: 'test/unit/console/sessions.test.ts' };

function guards(names: string): TestRun {
  return { file: 'test/journey/console-guards.test.ts', names };
}

function forms(names: string): TestRun {
  return { file: 'test/journey/console-forms.test.ts', names };
}

function bug(name: string, file: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name: `console: ${name}`, edits: [{ file: `src/${file}`, find, replace }], caughtBy: [caughtBy] };
}

export const CONSOLE_MUTATIONS: readonly Mutation[] = [
  bug(
    'a form needs no anti-forgery token',
    'console/console.ts',
    'session !== undefined && isSame(token, session.formToken)',
    'session !== undefined',
    guards('a forged form'),
  ),
  bug('a form may come from anywhere', 'console/form.ts', "site !== 'same-origin' && site !== 'none'", "site === 'none'", {
    file: 'test/unit/console/form.test.ts',
  }),
  bug(
    'a session never ends',
    'console/sessions.ts',
    'kept.untilMs > this.#now() ? this.#operators.now(kept.session.operator) : undefined',
    'this.#operators.now(kept.session.operator)',
    SIGN_IN,
  ),
  bug('a session outlives its end', 'console/pages/sign-in.ts', 'sessions.end(session);', '', guards('signing out')),
  bug('a new key is shown again', 'console/sessions.ts', 'notices.delete(name);', '', SIGN_IN),
  bug('the token of the sign-in form is for ever', 'console/sessions.ts', ' && ageMs < GOOD_MS', '', SIGN_IN),
  bug(
    'wrong tokens are not counted by address',
    'console/pages/sign-in.ts',
    "attempts.judge(form('token'), address)",
    "attempts.judge(form('token'), requestId)",
    guards('10,000 wrong tokens'),
  ),
  bug(
    'the listener answers to any name',
    'ops/ops-listener.ts',
    'names !== undefined && !isCalledByOwnName',
    'names === null && !isCalledByOwnName',
    guards('not the listener’s own'),
  ),
  bug(
    'a text is put into a page as it came',
    'docs/html.ts',
    'return escape(String(value));',
    'return String(value);',
    guards('what a query holds'),
  ),
  bug(
    'a form that is sent twice acts twice',
    'console/console.ts',
    'if (session === undefined || !IDEMPOTENCY_KEY.test(name)) return run();',
    'if (name !== undefined) return run();',
    forms('sent twice'),
  ),
  bug('any page may frame it', 'console/layout.ts', '  "frame-ancestors \'none\'",\n', '', guards('every answer forbids framing')),
  bug(
    'a revocation leaves no audit line',
    'console/pages/rotate-key.ts',
    "audit(parts, visit, 'revokeKey', { team_id: team.teamId, key_id: key.keyId });",
    '',
    forms('audit line'),
  ),
];
