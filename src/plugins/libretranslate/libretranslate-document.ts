// The API's own parts of its OpenAPI document, and problems in its format: one member `error`.
import type { ApiDocument, Problem, ProblemForm } from 'lingate';
import Type from 'typebox';
import { optional, string } from '../facades/reference.ts';

/** Wrong or missing keys, and a used-up quota or credit, are 403 there. */
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

/** The message for too many characters, and for too many texts. */
export function tooLong(size: number | string | undefined, limit: number | string | undefined): string {
  return `Invalid request: request (${size}) exceeds text limit (${limit})`;
}

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

export const ApiKey = optional('The key, if no header has one and the operator allows it here.');

export const DOCUMENT: ApiDocument = {
  title: 'LibreTranslate API',
  version: '1',
  summary: "LibreTranslate's API, with the keys, limits and charges of this service.",
  description:
    'For clients of LibreTranslate and, in another format, of DeepLX. Failures are an object with `error`; nothing is charged for them. ' +
    'A key in a header takes precedence over one in the body; a key in the query is never accepted.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'Supported languages, and language detection.',
    'Front ends': 'For web pages and browsers.',
  },
  failure: Failure,
};
