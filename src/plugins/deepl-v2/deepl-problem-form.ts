// Problems as DeepL's clients read them: the vendor's statuses, and `message` for those that read nothing else.
import { GLOSSARY_MISMATCH, problems, refuse } from 'lingate';
import type { Problem, ProblemForm, Refusal } from 'lingate';

const BY_CODE: Readonly<Record<string, number>> = { too_many_texts: 413, text_too_long: 413 };
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 456 };

/** Cases of `validation_error` for which the vendor has another status. */
const BY_PROBLEM = new WeakMap<Problem, number>();

/** Words that clients look for, where ours are others. */
const DETAILS = new WeakMap<Problem, string>([[GLOSSARY_MISMATCH.problem, 'No dictionary found for language pair.']]);

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/problem+json',
  status: (problem) => {
    const { status } = problems[problem.code];
    return BY_PROBLEM.get(problem) ?? BY_CODE[problem.code] ?? BY_STATUS[status] ?? status;
  },
  body(problem, document) {
    const detail = DETAILS.get(problem) ?? problem.detail;
    return JSON.stringify({ ...document, status: PROBLEM_FORM.status(problem), detail, message: detail });
  },
};

/** For a body over the limit, of `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): Refusal {
  const refusal = refuse('validation_error', `body: may be at most ${bytesMax} bytes long.`);
  BY_PROBLEM.set(refusal.problem, 413);
  return refusal;
}
