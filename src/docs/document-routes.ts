// The reference of documents: shown beside the routes of the service if documents are configured.
import { Type } from '../domain/typebox.ts';
import type { RouteDoc } from '../ports/plugin-route.ts';

const ID = '01KA6S3B8N2Q7V5X1Z4C6F9H0J';
const parameter = { description: "The document's id, a ULID. Any other text matches no document.", example: ID };
const GONE = 'document_not_found: the team has no document with this id, or it has expired.';

const StateAnswer = Type.Object({
  document_id: Type.String({ description: 'The id.' }),
  status: Type.Enum(['queued', 'translating', 'done', 'error'], { type: 'string', description: 'How far it is.' }),
  billed_characters: Type.Optional(
    Type.Integer({ minimum: 0, description: 'With `done`: what is charged with the first complete download.' }),
  ),
  code: Type.Optional(Type.String({ description: 'With `error`: a problem code. Nothing is charged.' })),
  detail: Type.Optional(Type.String({ description: 'With `error`: what it means for this document.' })),
});

/** By path; DELETE has one of its own. */
export const documentDocs: Readonly<Record<string, RouteDoc>> = {
  '/v1/documents': {
    summary: 'Translate a document',
    description:
      'Keeps a file and translates its texts in the background. Characters are reserved until it is downloaded, deleted or expires; they ' +
      'are charged with the first complete download.',
    authenticated: true,
    tag: 'documents',
    body: {
      description: 'The file, and how to translate it.',
      contentTypes: ['multipart/form-data'],
      schema: Type.Object({
        file: Type.String({ format: 'binary', description: 'The file, with its name.' }),
        target_lang: Type.String({ description: 'A target code.' }),
        source_lang: Type.Optional(Type.String({ description: 'A source code. Required with a glossary.' })),
        formality: Type.Optional(Type.String({ description: 'As of a translation of texts.' })),
        glossary_id: Type.Optional(Type.String({ description: 'A glossary of the same pair of languages.' })),
      }),
    },
    answer: {
      status: 202,
      description: 'The document is kept; `Location` is where its state is.',
      schema: Type.Object({
        document_id: Type.String({ description: 'The id.' }),
        status: Type.Literal('queued'),
        characters_held: Type.Integer({ description: 'Reserved until its characters are counted.' }),
      }),
      example: { document_id: ID, status: 'queued', characters_held: 50_000 },
    },
    failures: {
      400: 'validation_error, invalid_target_lang, invalid_source_lang: what is wrong with the parameters or the file.',
      402: 'quota_exceeded, credit_exhausted: what is held does not fit.',
      429: 'rate_limited: too many requests, or too many documents at work.',
    },
  },
  '/v1/documents/{id}': {
    summary: "Show a document's state",
    description: 'Ask every few seconds until it is `done` or `error`.',
    authenticated: true,
    tag: 'documents',
    parameter,
    answer: {
      status: 200,
      description: 'Its state.',
      schema: StateAnswer,
      example: { document_id: ID, status: 'done', billed_characters: 1200 },
    },
    failures: { 404: GONE },
  },
  DELETE: {
    summary: 'Delete a document',
    description: 'Deletes its files, and releases what is reserved for it.',
    authenticated: true,
    tag: 'documents',
    parameter,
    answer: { status: 204, description: 'The document is deleted.' },
    failures: { 404: GONE },
  },
  '/v1/documents/{id}/result': {
    summary: 'Download the translated document',
    description: 'Charged once, when it was written to its end for the first time; it can be downloaded again until it expires.',
    authenticated: true,
    tag: 'documents',
    parameter,
    answer: {
      status: 200,
      description: 'The file.',
      contentType: 'application/octet-stream',
      schema: Type.String({ format: 'binary' }),
    },
    failures: {
      404: GONE,
      409: 'document_not_ready: it is not translated yet, see Retry-After. document_failed: it ended in an error, which `failed_with` names.',
    },
  },
};
