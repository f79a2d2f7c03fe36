// The problems in Azure's format: a number of six digits, whose first three are the status, and a message.
import { KEY_MALFORMED, refuse } from 'lingate';
import type { Problem, ProblemCode, ProblemForm, Refusal } from 'lingate';
import Type from 'typebox';

/** The codes that are not just the status and three zeros; cases of `validation_error` get their number where they are refused. */
const BY_CODE: ReadonlyMap<string, number> = new Map<ProblemCode, number>([
  ['invalid_source_lang', 400_035],
  ['invalid_target_lang', 400_036],
  ['text_too_long', 400_050],
  ['too_many_texts', 400_072],
  ['quota_exceeded', 403_001],
  ['credit_exhausted', 403_001],
  ['rate_limited', 429_001],
]);

/** Cases of `validation_error` that have their own number. */
const BY_PROBLEM = new WeakMap<Problem, number>();

/** The header with a key alone. */
export const KEY_FIELD = 'Ocp-Apim-Subscription-Key';
export const NO_KEY = refuse('unauthorized', `No API key was sent. Send it as "${KEY_FIELD}: <key>".`);
const MALFORMED = `The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "${KEY_FIELD}: <key>".`;

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: (problem) => Math.floor(numberOf(problem) / 1000),
  body: (problem) => JSON.stringify({ error: { code: numberOf(problem), message: wordsOf(problem) } }),
};

export const Failure = Type.Object(
  {
    error: Type.Object({
      code: Type.Integer({ description: 'The status, followed by three digits for the failure.' }),
      message: Type.String({ description: 'What went wrong, for people.' }),
    }),
  },
  { description: 'A failure.' },
);

/** An error in a request; `number` is Azure's code for it. */
export function wrong(number: number, message: string): Refusal {
  const refusal = refuse('validation_error', message);
  BY_PROBLEM.set(refusal.problem, number);
  return refusal;
}

function numberOf(problem: Problem): number {
  return BY_PROBLEM.get(problem) ?? BY_CODE.get(problem.code) ?? problem.kind.status * 1000;
}

function wordsOf(problem: Problem): string {
  const { code, detail, fields = {} } = problem;
  if (problem === KEY_MALFORMED.problem) return MALFORMED;
  if (code !== 'text_too_long') return detail;
  return `The texts are ${fields['characters']} characters long, counted once for each target language; the plan allows ${fields['max_characters']} in one request.`;
}
