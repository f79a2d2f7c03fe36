// Planted bugs in what operators count on: that only pairs which the engine has are offered, and that a leaked key is found.
import type { Mutation, TestRun } from './mutation.ts';

const OFFERED: TestRun = { file: 'test/unit/runtime/offered-languages.test.ts' };

function bug(name: string, file: string, find: string, replace: string, ...caughtBy: TestRun[]): Mutation {
  return { name, edits: [{ file: `src/${file}`, find, replace }], caughtBy };
}

export const OPERATOR_MUTATIONS: readonly Mutation[] = [
  bug(
    'a pair that is not offered goes to the engine',
    'domain/translate-request.ts',
    'if (!languages.offers(sourceLang, targetLang)) return no(pairNotOffered(sourceLang, targetLang, languages));',
    '',
    { file: 'test/journey/pairs.test.ts', names: 'over /v1' },
  ),
  bug(
    'an engine that talks nonsense has no pairs any more',
    'runtime/offered-languages.ts',
    'this.#silent.add(url);',
    'this.#silent.add(url);\n    this.#told.delete(url);',
    OFFERED,
  ),
  bug('only what every replica has is offered', 'runtime/offered-languages.ts', 'told.some((offers)', 'told.every((offers)', OFFERED),
];
