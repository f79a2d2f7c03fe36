// The API reference's description of each route of the service: purpose, parameters, bodies,
// answers, and the problems it can answer.
import { problemsTo } from '../core/problem.ts';
import type { ProblemCode } from '../core/problem.ts';
import type { TSchema } from 'typebox';
import {
  GlossariesAnswer,
  GlossaryAnswer,
  GlossaryEntriesAnswer,
  HealthAnswer,
  LanguagesAnswer,
  TranslateAnswer,
  UsageAnswer,
} from '../domain/answers.ts';
import { GlossaryBody } from '../domain/glossary.ts';
import { Type } from '../domain/typebox.ts';
import { TranslateBody } from '../domain/translate-request.ts';
import type { DocExamples, RouteDoc } from '../ports/plugin-route.ts';

/** A route of the service; its method and path are the key in the table. */
export interface Operation extends RouteDoc {
  /** The anchor on the page, and the name of a function in generated clients. */
  readonly id: string;
  readonly tag: string;
  readonly problems?: readonly ProblemCode[];
}

/** Descriptions of the groups of operations, in the order of the page. */
export const TAGS = {
  Translation: 'Translate texts.',
  Languages: 'The languages that can be translated.',
  Glossaries: 'Terms with fixed translations.',
  Usage: 'What has been used, and what is left.',
  Health: 'For load balancers and monitors.',
} as const;

/** The same, if documents are on. */
export const DOCUMENT_TAGS = { ...TAGS, documents: 'Translate files.' } as const;

/** For the only path parameter of the routes that need no documents. */
export const GLOSSARY_ID = '01KA6Q4T1V8E5S0H6N3B7W2XJD';

const letter = {
  text: ['Good morning', 'How are you?'],
  source_lang: 'EN',
  target_lang: 'FR',
  formality: 'prefer_more',
  context: 'The first lines of a letter to a customer.',
};

const glossary = {
  glossary_id: GLOSSARY_ID,
  name: 'Product names',
  source_lang: 'EN',
  target_lang: 'DE',
  entry_count: 2,
  created_at: '2026-11-01T08:00:00Z',
};

const entries = { entries: { gateway: 'Lingate', 'key ring': 'Schlüsselbund' } };

const usage = {
  team_id: '01KA6P8A6F3M2R7C5D1G4H9JKT',
  requests_per_second: 50,
  period_start: '2026-11-01T00:00:00Z',
  period_end: '2026-12-01T00:00:00Z',
  character_count: 1200,
  keys: [
    {
      display: 'la_live_Ab3d',
      label: 'backend',
      mode: 'live',
      character_count: 1200,
      request_count: 40,
      last_used_at: '2026-11-21T09:30:00Z',
    },
    { display: 'la_test_9Xk2', label: 'staging', mode: 'test', character_count: 0, request_count: 0, last_used_at: null },
  ],
};

const quotaUsage = {
  plan: 'pro',
  billing: 'quota',
  ...usage,
  character_limit: 5_000_000,
  overage: { character_count: 0, cost_minor: 0, cap_minor: 10_000, currency: 'EUR' },
};

const days = [
  { date: '2026-11-20', character_count: 900, request_count: 28 },
  { date: '2026-11-21', character_count: 300, request_count: 12 },
];

const creditUsage = { plan: 'prepaid', billing: 'credit', ...usage, credit: { balance_minor: 900, currency: 'EUR' } };

const DAY = Type.String({ format: 'date' });
const GLOSSARIES = { tag: 'Glossaries', authenticated: true } as const;
const ONE_GLOSSARY = {
  ...GLOSSARIES,
  parameter: { description: "The glossary's id, a ULID. Any other text matches no glossary.", example: GLOSSARY_ID },
} as const;

function answered(description: string, schema: TSchema, example?: unknown, examples?: DocExamples['examples']): Operation['answer'] {
  return { status: 200, description, schema, example, examples };
}

/** Without documents, by route name. A test compares this table with the router's. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/translate': {
    id: 'translate',
    tag: 'Translation',
    summary: 'Translate texts',
    description:
      'Translates 1 to 50 texts into one target language. Characters are Unicode code points of `text`; they are only charged when ' +
      'the translations are delivered. Unknown members are refused, so that a mistyped option never silently changes the translation.',
    authenticated: true,
    body: {
      description: 'The texts, and how to translate them.',
      schema: TranslateBody,
      examples: {
        plain: { summary: 'A text, into a language', value: { text: ['Hello, world!'], target_lang: 'DE' } },
        options: { summary: 'Several texts, with options', value: letter },
      },
    },
    answer: answered('The translations, in the order of the texts.', TranslateAnswer, undefined, {
      plain: {
        summary: 'One translation',
        value: { translations: [{ detected_source_language: 'EN', text: 'Hallo, Welt!' }], billed_characters: 13 },
      },
    }),
    problems: problemsTo('translation'),
  },
  'GET /v1/languages': {
    id: 'listLanguages',
    tag: 'Languages',
    summary: 'List languages',
    description: 'Lists the codes for `source_lang` or `target_lang`. Regional variants are targets only.',
    authenticated: true,
    query: [
      {
        name: 'type',
        description: 'Which list.',
        schema: Type.Enum(['source', 'target'], { type: 'string', default: 'source' }),
        example: 'target',
      },
    ],
    answer: answered('The languages.', LanguagesAnswer, undefined, {
      target: {
        summary: 'The targets',
        value: [
          { language: 'DE', name: 'German', supports_formality: true },
          { language: 'EN-GB', name: 'English (British)', supports_formality: false },
        ],
      },
      source: { summary: 'The sources', value: [{ language: 'EN', name: 'English' }] },
    }),
  },
  'POST /v1/glossaries': {
    ...GLOSSARIES,
    id: 'createGlossary',
    summary: 'Create a glossary',
    description: 'Stores terms and their translations for one language pair. A glossary cannot be changed: delete it and create another.',
    body: {
      description: 'The glossary.',
      schema: GlossaryBody,
      example: { name: glossary.name, source_lang: 'EN', target_lang: 'DE', ...entries },
    },
    answer: {
      ...answered('The new glossary.', GlossaryAnswer, glossary),
      status: 201,
      headers: { Location: { description: 'The path of the new resource.', example: `/v1/glossaries/${GLOSSARY_ID}` } },
    },
    problems: problemsTo('new_glossary'),
  },
  'GET /v1/glossaries': {
    ...GLOSSARIES,
    id: 'listGlossaries',
    summary: 'List glossaries',
    description: 'Lists the glossaries of the team.',
    answer: answered('The glossaries, without their entries.', GlossariesAnswer, { glossaries: [glossary] }),
  },
  'GET /v1/glossaries/{id}': {
    ...ONE_GLOSSARY,
    id: 'getGlossary',
    summary: 'Show a glossary',
    description: 'Shows one glossary, without its entries.',
    answer: answered('The glossary.', GlossaryAnswer, glossary),
    problems: problemsTo('glossary'),
  },
  'GET /v1/glossaries/{id}/entries': {
    ...ONE_GLOSSARY,
    id: 'getGlossaryEntries',
    summary: "Show a glossary's entries",
    description: 'Shows all terms and their translations.',
    answer: answered('The entries.', GlossaryEntriesAnswer, entries),
    problems: problemsTo('glossary'),
  },
  'DELETE /v1/glossaries/{id}': {
    ...ONE_GLOSSARY,
    id: 'deleteGlossary',
    summary: 'Delete a glossary',
    description: 'Deletes a glossary. Later translations that name it are refused.',
    answer: { status: 204, description: 'The glossary is deleted.' },
    problems: problemsTo('glossary'),
  },
  'GET /v1/usage': {
    id: 'getUsage',
    tag: 'Usage',
    summary: 'Report usage',
    description:
      'The usage of the team in its current period, in total and for each key; with `from` and `to` also for each day. Requests in ' +
      'progress are not included. The operator sets how long days are kept; 400 days by default.',
    authenticated: true,
    query: [
      { name: 'from', description: 'The first UTC day. Only together with `to`.', schema: DAY, example: '2026-11-01' },
      { name: 'to', description: 'The last UTC day (inclusive); at most 400 days.', schema: DAY, example: '2026-11-30' },
    ],
    answer: answered('The usage in the current period, without requests in progress.', UsageAnswer, undefined, {
      quota: { summary: 'A team with a quota', value: quotaUsage },
      credit: { summary: 'A team with prepaid credit', value: creditUsage },
      days: { summary: 'With from and to', value: { ...quotaUsage, days } },
    }),
  },
  'GET /health': {
    id: 'getHealth',
    tag: 'Health',
    summary: 'Check whether the service is available',
    description: 'For load balancers and monitors: needs no key, and does not use the store.',
    authenticated: false,
    answer: answered('It can.', HealthAnswer, { status: 'ok' }),
    problems: ['service_unavailable'],
  },
};

/** The routes of a gateway. */
export function operationsOf(hasDocuments: boolean): Readonly<Record<string, Operation>> {
  return hasDocuments ? { ...operations, ...documentOperations } : operations;
}

const ID = '01KA6S3B8N2Q7V5X1Z4C6F9H0J';
const parameter = { description: "The document's id, a ULID. Any other text matches no document.", example: ID };
const OF_DOCUMENTS = { tag: 'documents', authenticated: true } as const;
const ONE_DOCUMENT = { ...OF_DOCUMENTS, parameter, problems: problemsTo('document') } as const;

const StateAnswer = Type.Object({
  document_id: Type.String({ description: 'The id.' }),
  status: Type.Enum(['queued', 'translating', 'done', 'error'], { type: 'string', description: 'How far it is.' }),
  billed_characters: Type.Optional(Type.Integer({ minimum: 0, description: 'With `done`: what was charged.' })),
  code: Type.Optional(Type.String({ description: 'With `error`: a problem code. Nothing is charged.' })),
  detail: Type.Optional(Type.String({ description: 'With `error`: what it means for this document.' })),
});

/** By route name. */
const documentOperations: Readonly<Record<string, Operation>> = {
  'POST /v1/documents': {
    ...OF_DOCUMENTS,
    id: 'documentsPostV1Documents',
    summary: 'Translate a document',
    description:
      'Stores a file and translates its texts in the background. Characters are reserved for it, and charged ' +
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
    problems: problemsTo('new_document'),
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
    problems: problemsTo('result'),
  },
};
