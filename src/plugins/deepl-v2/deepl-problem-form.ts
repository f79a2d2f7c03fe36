// The problems in DeepL's format: its statuses, and `message`, which clients show before `detail`.
import { GLOSSARY_MISMATCH, KEY_MALFORMED, KEY_MISSING, refuse } from 'lingate';
import type { Problem, ProblemForm, Refusal } from 'lingate';

const BY_CODE: Readonly<Record<string, number>> = { too_many_texts: 413, text_too_long: 413 };
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 456 };

/** Cases of `validation_error` for which DeepL has another status. */
const BY_PROBLEM = new WeakMap<Problem, number>();

/** Messages for which clients search, and this API's way to send a key. */
const DETAILS = new WeakMap<Problem, string>([
  [GLOSSARY_MISMATCH.problem, 'No dictionary found for language pair.'],
  [KEY_MISSING.problem, 'No API key was sent. Send it as "Authorization: DeepL-Auth-Key <key>".'],
  [
    KEY_MALFORMED.problem,
    'The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "Authorization: DeepL-Auth-Key <key>".',
  ],
]);

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/problem+json',
  status: (problem) => {
    const { status } = problem.kind;
    return BY_PROBLEM.get(problem) ?? BY_CODE[problem.code] ?? BY_STATUS[status] ?? status;
  },
  body(problem, document) {
    const detail = DETAILS.get(problem) ?? problem.detail;
    // Clients show both, so the same words twice would look odd.
    return JSON.stringify({ ...document, status: PROBLEM_FORM.status(problem), detail, message: document.title });
  },
};

/** For a body over the limit, of `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): Refusal {
  const refusal = refuse('validation_error', `body: may be at most ${bytesMax} bytes long.`);
  BY_PROBLEM.set(refusal.problem, 413);
  return refusal;
}
