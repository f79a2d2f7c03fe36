// What the API's own OpenAPI document says beside its routes.
import Type from 'typebox';
import type { ApiDocument } from 'lingate';
import { Failure } from './libretranslate-problem-form.ts';

/** How parameters may be sent. */
export const BODY_TYPES = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'] as const;

export const ApiKey = Type.Optional(
  Type.String({ description: 'The key, where no field of the request has one and the operator takes it from here.' }),
);

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
