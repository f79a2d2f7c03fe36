// Routes of DeepL's API that are not offered: a wrong key is refused as there, a right one gets `not_found`.
import { refuse } from 'lingate';
import { AUTHENTICATED } from './authenticated-steps.ts';
import type { ApiPart } from '../facades/api-part.ts';
import { PROBLEM_FORM } from './deepl-problem-form.ts';

/** Where each of them begins; the paths below need an id, which nobody can have got. */
const PATHS: readonly (readonly [method: string, path: string])[] = [
  ['POST', '/v2/document'],
  ['POST', '/v2/write/rephrase'],
  ['GET', '/v3/style_rules'],
  ['POST', '/v3/style_rules'],
  ['GET', '/v3/translation_memories'],
];

const NOT_HERE = refuse(
  'not_found',
  'This service translates texts; it has no documents, rephrasing, style rules or translation memories.',
);

export function notOffered(): ApiPart {
  return {
    routes: PATHS.map(([method, path]) => ({
      method,
      path,
      takesBody: false,
      steps: [...AUTHENTICATED, 'admit', 'deepl-not-offered'],
      problemForm: PROBLEM_FORM,
      undocumented: true,
    })),
    steps: () => [{ kind: 'body', name: 'deepl-not-offered', run: () => NOT_HERE }],
  };
}
