// Problems as DeepL's clients read them: the vendor's statuses, and `message` for those that read nothing else.
import { NO_SUCH_GLOSSARY, problems, refuse } from 'lingate';
import type { Problem, ProblemForm, Refusal } from 'lingate';

const BY_CODE: Readonly<Record<string, number>> = { too_many_texts: 413, text_too_long: 413 };
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 456 };

/** Those of `validation_error` that the vendor has a status of its own for. */
const BY_PROBLEM = new WeakMap<Problem, number>([[NO_SUCH_GLOSSARY.problem, 404]]);

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/problem+json',
  status: (problem) => {
    const { status } = problems[problem.code];
    return BY_PROBLEM.get(problem) ?? BY_CODE[problem.code] ?? BY_STATUS[status] ?? status;
  },
  body: (problem, document) => JSON.stringify({ ...document, status: PROBLEM_FORM.status(problem), message: problem.detail }),
};

/** For a body over the limit, of `bytesMax` bytes. */
export function bodyTooLarge(bytesMax: number): Refusal {
  const refusal = refuse('validation_error', `body: may be at most ${bytesMax} bytes long.`);
  BY_PROBLEM.set(refusal.problem, 413);
  return refusal;
}
