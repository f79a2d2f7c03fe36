// What the OpenAPI document of this API says beside its routes.
import Type from 'typebox';
import type { ApiDocument } from 'lingate';

/** A problem document, and `message` for clients that read nothing else. */
const Failure = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'Where the code is explained.' }),
    title: Type.String({ description: 'The code in words.' }),
    status: Type.Integer({ description: 'The status of the answer.' }),
    code: Type.String({ description: 'Never changes its meaning.' }),
    detail: Type.String({ description: 'For people; may change at any time.' }),
    message: Type.String({ description: 'The same as `detail`.' }),
    request_id: Type.String({ description: 'The same as the X-Request-Id field.' }),
  },
  { additionalProperties: true, title: 'Failure', description: 'What went wrong (RFC 9457). Members beyond these depend on `code`.' },
);

export const DOCUMENT: ApiDocument = {
  title: 'the DeepL API',
  version: '2',
  summary: "DeepL's API over this service's keys, limits and books.",
  description:
    "For programs that speak DeepL's API: its address and a key of this service are all they need. The engine is the service's own. " +
    'Statuses are those of that API: 403 for keys, 456 for a quota or credit that is used up, 413 for what is too large.',
  tags: {
    Translation: 'Translate texts.',
    Languages: 'What can be translated, and into what.',
    Glossaries: 'Terms with fixed translations.',
    Usage: 'What has been used, and what is left.',
  },
  failure: Failure,
};
