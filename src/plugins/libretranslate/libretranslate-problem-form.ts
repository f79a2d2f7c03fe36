// Problems as LibreTranslate's clients read them: one member `error`, under its statuses and in its words where it has some.
import Type from 'typebox';
import { problems } from 'lingate';
import type { Problem, ProblemForm } from 'lingate';

/** Bad and missing keys, and what is used up, are 403 there. */
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 403 };

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ code }) => (code === 'engine_unavailable' ? 500 : (BY_STATUS[problems[code].status] ?? problems[code].status)),
  body: (problem) => JSON.stringify({ error: wordsOf(problem) }),
};

export const Failure = Type.Object({ error: Type.String({ description: 'What went wrong, for people.' }) }, { description: 'A failure.' });

function wordsOf({ code, detail, fields = {} }: Problem): string {
  if (code === 'rate_limited') return `Slowdown: ${fields['limit']} per 1 second`;
  if (code === 'text_too_long') return tooLong(fields['characters'], fields['max_characters']);
  return detail;
}

/** The words for too many characters, and for too many texts. */
export function tooLong(size: number | string | undefined, limit: number | string | undefined): string {
  return `Invalid request: request (${size}) exceeds text limit (${limit})`;
}
