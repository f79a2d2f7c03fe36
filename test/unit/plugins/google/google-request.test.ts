// Problems as Google's clients get them: an invalid key in Google's words, and other plugins' codes by their status.
import { expect, test } from 'vitest';
import { loadedProblems, refuseBy } from '../../../../src/config/plugin-problems.ts';
import type { Refusal } from '../../../../src/index.ts';
import { UNKNOWN_KEY } from '../../../../src/index.ts';
import { PROBLEM_FORM } from '../../../../src/plugins/google-v2.ts';

const plugin = refuseBy(
  loadedProblems('other', {
    sign_in: { status: 401, title: 'Sign in', retry: false },
    not_here: { status: 451, title: 'Not here', retry: false },
    back_soon: { status: 503, title: 'Back soon', retry: true },
  }),
);

test.each<[string, Refusal, number, string, string, string]>([
  ['an unknown key', UNKNOWN_KEY, 400, 'INVALID_ARGUMENT', 'API_KEY_INVALID', 'API key not valid. This key is unknown.'],
  ["a plugin's 401", plugin('sign_in', 'Sign in first.'), 401, 'UNAUTHENTICATED', 'authError', 'Sign in first.'],
  ["a plugin's 451", plugin('not_here', 'Not in this country.'), 451, 'INVALID_ARGUMENT', 'invalid', 'Not in this country.'],
  ["a plugin's 503", plugin('back_soon', 'At noon.'), 503, 'UNAVAILABLE', 'backendError', 'At noon.'],
])('%s', (_what, { problem }, code, status, reason, message) => {
  expect(PROBLEM_FORM.status(problem)).toBe(code);
  const errors = [{ message, domain: 'global', reason }];
  expect(JSON.parse(PROBLEM_FORM.body(problem, {} as never, ''))).toEqual({ error: { code, message, errors, status } });
});
