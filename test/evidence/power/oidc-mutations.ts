// Planted bugs in the sign-in by a provider: what of its answers is checked, and how often one counts.
import type { Mutation, TestRun } from './mutation.ts';

function attacks(names: string): TestRun {
  return { file: 'test/journey/console-oidc-attacks.test.ts', names };
}

function bug(name: string, where: string, find: string, replace: string, caughtBy: TestRun): Mutation {
  return { name: `sign-in by a provider: ${name}`, edits: [{ where, find, replace }], caughtBy: [caughtBy] };
}

export const OIDC_MUTATIONS: readonly Mutation[] = [
  bug(
    'the signature of ID tokens is not checked',
    'OidcProvider.#configuration',
    'library.enableNonRepudiationChecks(configuration);',
    '',
    attacks('a wrong signature'),
  ),
  bug('every attempt has the same nonce', 'attemptOf', "nonce: derived('nonce')", "nonce: 'nonce'.repeat(9).slice(0, 43)", {
    file: 'test/unit/domain/sign-in-attempt.test.ts',
  }),
  bug(
    'an old ID token is good',
    'OidcProvider.#person',
    'ageSeconds > ISSUED_WITHIN_SECONDS || ageSeconds < -AHEAD_SECONDS',
    'ageSeconds < -AHEAD_SECONDS',
    attacks('wrong claims'),
  ),
  bug(
    'the issuer that an answer names does not matter',
    'OidcProvider.identify',
    'mixedUp !== undefined',
    'mixedUp === null',
    attacks('of another provider'),
  ),
  bug('an answer counts as often as it comes', 'comeBack', 'if (!isFirst)', 'if (isFirst === null)', attacks('that is sent again')),
  bug(
    'the beginning of a state is enough',
    'attemptOfBrowser',
    'isUnavailable(attempt) || isSame(state, attempt.state)',
    'isUnavailable(attempt) || attempt.state !== state.slice(0, 8)',
    attacks('of another browser'),
  ),
  bug(
    'failed attempts are not limited',
    'comeBack',
    'oidc.failures.ofAttempts.isFull(request.remoteAddress)',
    "oidc.failures.ofAttempts.isFull('')",
    attacks('after ten'),
  ),
  bug(
    'a person of any provider has the role',
    'Operators.byPerson',
    'groups === undefined || groups.issuer !== person.issuer',
    'groups === undefined',
    {
      file: 'test/unit/admin/operators.test.ts',
    },
  ),
  bug('redirects of a provider are followed', 'boundedFetch', "redirect: 'manual'", "redirect: 'follow'", {
    file: 'test/unit/runtime/oidc-provider.test.ts',
  }),
];
