// The reference of documents: shown after the other routes of the service if documents are configured.
import { Type } from '../domain/typebox.ts';
import type { Operation } from './operations.ts';

const ID = '01KA6S3B8N2Q7V5X1Z4C6F9H0J';
const parameter = { description: "The document's id, a ULID. Any other text matches no document.", example: ID };
const OF_DOCUMENTS = { tag: 'documents', authenticated: true } as const;
const ONE_DOCUMENT = { ...OF_DOCUMENTS, parameter, problems: ['document_not_found'] } as const;

const StateAnswer = Type.Object({
  document_id: Type.String({ description: 'The id.' }),
  status: Type.Enum(['queued', 'translating', 'done', 'error'], { type: 'string', description: 'How far it is.' }),
  billed_characters: Type.Optional(Type.Integer({ minimum: 0, description: 'With `done`: what was charged.' })),
  code: Type.Optional(Type.String({ description: 'With `error`: a problem code. Nothing is charged.' })),
  detail: Type.Optional(Type.String({ description: 'With `error`: what it means for this document.' })),
});

/** By route name. */
export const documentOperations: Readonly<Record<string, Operation>> = {
  'POST /v1/documents': {
    ...OF_DOCUMENTS,
    id: 'documentsPostV1Documents',
    summary: 'Translate a document',
    description:
      'Keeps a file and translates its texts in the background. Characters are reserved for it, and charged ' +
      'when it is done; if its key is revoked, disabled or expires before, it ends in an error and nothing is charged.',
    body: {
      description: 'The file, and how to translate it.',
      contentTypes: ['multipart/form-data'],
      example: { file: '@report.docx', target_lang: 'DE' },
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
      headers: { Location: { description: 'The path of the new resource.', example: `/v1/documents/${ID}` } },
      description: 'The document is accepted; `Location` is where its state is.',
      schema: Type.Object({
        document_id: Type.String({ description: 'The id.' }),
        status: Type.Literal('queued'),
        characters_held: Type.Integer({ description: 'Reserved until its characters are counted.' }),
      }),
      example: { document_id: ID, status: 'queued', characters_held: 50_000 },
    },
    problems: ['invalid_target_lang', 'invalid_source_lang', 'quota_exceeded', 'credit_exhausted'],
  },
  'GET /v1/documents/{id}': {
    ...ONE_DOCUMENT,
    id: 'documentsGetV1DocumentsId',
    summary: "Show a document's state",
    description: 'Ask every few seconds until it is `done` or `error`.',
    answer: {
      status: 200,
      description: 'Its state.',
      schema: StateAnswer,
      example: { document_id: ID, status: 'done', billed_characters: 1200 },
    },
  },
  'DELETE /v1/documents/{id}': {
    ...ONE_DOCUMENT,
    id: 'documentsDeleteV1DocumentsId',
    summary: 'Delete a document',
    description: 'Deletes its files, and releases what is reserved for it.',
    answer: { status: 204, description: 'The document is deleted.' },
  },
  'GET /v1/documents/{id}/result': {
    ...ONE_DOCUMENT,
    id: 'documentsGetV1DocumentsIdResult',
    summary: 'Download the translated document',
    description: 'It can be downloaded again until it expires.',
    answer: {
      status: 200,
      description: 'The file.',
      contentType: 'application/octet-stream',
      schema: Type.String({ format: 'binary' }),
      example: '(the file)',
    },
    problems: ['document_not_found', 'document_not_ready', 'document_failed'],
  },
};
