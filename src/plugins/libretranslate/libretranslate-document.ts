// What the API's own OpenAPI document says beside its routes, and problems as its clients read them: one member `error`.
import type { ApiDocument, Problem, ProblemForm } from 'lingate';
import Type from 'typebox';
import { optional, string } from '../facades/reference.ts';

/** Bad and missing keys, and what is used up, are 403 there. */
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 403 };

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/json',
  status: ({ code, kind: { status } }) => (code === 'engine_unavailable' ? 500 : (BY_STATUS[status] ?? status)),
  body: (problem) => JSON.stringify({ error: wordsOf(problem) }),
};

const Failure = Type.Object({ error: string('What went wrong, for people.') }, { description: 'A failure.' });

function wordsOf({ code, detail, fields = {} }: Problem): string {
  if (code === 'rate_limited') return `Slowdown: ${fields['limit']} per 1 second`;
  if (code === 'text_too_long') return tooLong(fields['characters'], fields['max_characters']);
  return detail;
}

/** The words for too many characters, and for too many texts. */
export function tooLong(size: number | string | undefined, limit: number | string | undefined): string {
  return `Invalid request: request (${size}) exceeds text limit (${limit})`;
}

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

export const ApiKey = optional('The key, where no field of the request has one and the operator takes it from here.');

export const DOCUMENT: ApiDocument = {
  title: 'LibreTranslate API',
  version: '1',
  summary: "LibreTranslate's API, over the keys, limits and books of this service.",
  description:
    'For clients of LibreTranslate and, in a shape of its own, of DeepLX. Failures are an object with `error`; nothing is charged for them. ' +
    'A key in a field of the request counts before one in the body; none is ever taken from a query.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'What can be translated, and what a text is in.',
    'Front ends': 'What pages and browsers ask.',
  },
  failure: Failure,
};
