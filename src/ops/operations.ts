// What the API reference says of each route: purpose, parameters, bodies, answers, and the problems it can end in.
import type { TSchema } from 'typebox';
import Type from 'typebox';
import type { ProblemCode } from '../core/problem.ts';
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
import { TranslateBody } from '../domain/translate-request.ts';

export interface Answer {
  readonly status: number;
  readonly description: string;
  /** `undefined` for an answer without a body. */
  readonly schema: TSchema | undefined;
  readonly example?: unknown;
  readonly headers?: readonly string[];
}

export interface Operation {
  readonly id: string;
  readonly tag: 'Translation' | 'Languages' | 'Usage' | 'Glossaries' | 'Health';
  readonly summary: string;
  readonly description: string;
  /** Whether a key is needed. */
  readonly authenticated: boolean;
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: TSchema }[];
  readonly body?: { readonly name: string; readonly schema: TSchema; readonly example: unknown };
  readonly answer: Answer;
  /** Beyond those of every route, and of every route that needs a key. */
  readonly problems: readonly ProblemCode[];
}

/** What any authenticated route can end in. */
export const AUTHENTICATED_PROBLEMS: readonly ProblemCode[] = ['unauthorized', 'key_revoked', 'rate_limited', 'service_unavailable'];
/** What any route can end in; `validation_error` is how broken HTTP framing is answered too. */
export const COMMON_PROBLEMS: readonly ProblemCode[] = ['validation_error', 'internal_error'];

const GLOSSARY_ID = '01K9ZQ4T1V8E5S0H6N3B7W2XJD';
const glossary = {
  glossary_id: GLOSSARY_ID,
  name: 'Product names',
  source_lang: 'EN',
  target_lang: 'DE',
  entry_count: 1,
  created_at: '2026-11-01T08:00:00Z',
};

/** By route name. A test holds this table and the router's to each other. */
export const operations: Readonly<Record<string, Operation>> = {
  'POST /v1/translate': {
    id: 'translate',
    tag: 'Translation',
    summary: 'Translate texts',
    description:
      'Translates 1 to 50 texts into one target language. Characters are Unicode code points of `text`; they are charged only when ' +
      'a translation is delivered. Unknown members are refused, so that a mistyped option never translates silently differently.',
    authenticated: true,
    body: {
      name: 'TranslateRequest',
      schema: TranslateBody,
      example: { text: ['Hello, world!'], target_lang: 'DE', source_lang: 'EN', formality: 'prefer_more' },
    },
    answer: {
      status: 200,
      description: 'The translations, in the order of the texts.',
      schema: TranslateAnswer,
      example: { translations: [{ detected_source_language: 'EN', text: 'Hallo, Welt!' }], billed_characters: 13 },
    },
    problems: [
      'invalid_target_lang',
      'invalid_source_lang',
      'too_many_texts',
      'text_too_long',
      'quota_exceeded',
      'credit_exhausted',
      'engine_unavailable',
    ],
  },
  'GET /v1/languages': {
    id: 'listLanguages',
    tag: 'Languages',
    summary: 'List languages',
    description: 'Lists the codes that `source_lang` or `target_lang` may have. Regional variants are targets only.',
    authenticated: true,
    query: [{ name: 'type', description: 'Which list.', schema: Type.Enum(['source', 'target'], { default: 'source' }) }],
    answer: {
      status: 200,
      description: 'The languages.',
      schema: LanguagesAnswer,
      example: [{ language: 'DE', name: 'German', supports_formality: true }],
    },
    problems: [],
  },
  'GET /v1/usage': {
    id: 'getUsage',
    tag: 'Usage',
    summary: 'Report usage',
    description: 'What the team has used of its current period, over all keys and key by key. Requests still under way are not in it.',
    authenticated: true,
    answer: {
      status: 200,
      description: 'Settled counts of the current period.',
      schema: UsageAnswer,
      example: {
        team_id: '01K9ZP8A6F3M2R7C5D1G4H9JKT',
        plan: 'pro',
        billing: 'quota',
        requests_per_second: 50,
        period_start: '2026-11-01T00:00:00Z',
        period_end: '2026-12-01T00:00:00Z',
        character_count: 1200,
        character_limit: 5_000_000,
        overage: { character_count: 0, cost_minor: 0, cap_minor: 10_000, currency: 'EUR' },
        keys: [
          {
            display: 'la_live_Ab3d',
            label: 'backend',
            mode: 'live',
            character_count: 1200,
            request_count: 40,
            last_used_at: '2026-11-21T09:30:00Z',
          },
        ],
      },
    },
    problems: [],
  },
  'POST /v1/glossaries': {
    id: 'createGlossary',
    tag: 'Glossaries',
    summary: 'Create a glossary',
    description:
      'Terms and how they are to be translated, for one pair of languages. A glossary is never changed; delete it and create another.',
    authenticated: true,
    body: {
      name: 'GlossaryRequest',
      schema: GlossaryBody,
      example: { name: 'Product names', source_lang: 'EN', target_lang: 'DE', entries: { gateway: 'Lingate' } },
    },
    answer: { status: 201, description: 'The new glossary.', schema: GlossaryAnswer, example: glossary, headers: ['Location'] },
    problems: ['invalid_source_lang', 'invalid_target_lang', 'glossary_limit_reached'],
  },
  'GET /v1/glossaries': {
    id: 'listGlossaries',
    tag: 'Glossaries',
    summary: 'List glossaries',
    description: 'The glossaries of the team, oldest first.',
    authenticated: true,
    answer: { status: 200, description: 'The glossaries.', schema: GlossariesAnswer, example: { glossaries: [glossary] } },
    problems: [],
  },
  'GET /v1/glossaries/{id}': {
    id: 'getGlossary',
    tag: 'Glossaries',
    summary: 'Show a glossary',
    description: 'One glossary, without its entries.',
    authenticated: true,
    answer: { status: 200, description: 'The glossary.', schema: GlossaryAnswer, example: glossary },
    problems: ['glossary_not_found'],
  },
  'GET /v1/glossaries/{id}/entries': {
    id: 'getGlossaryEntries',
    tag: 'Glossaries',
    summary: "Show a glossary's entries",
    description: 'All terms and their translations.',
    authenticated: true,
    answer: { status: 200, description: 'The entries.', schema: GlossaryEntriesAnswer, example: { entries: { gateway: 'Lingate' } } },
    problems: ['glossary_not_found'],
  },
  'DELETE /v1/glossaries/{id}': {
    id: 'deleteGlossary',
    tag: 'Glossaries',
    summary: 'Delete a glossary',
    description: 'Translations that name it are refused from then on.',
    authenticated: true,
    answer: { status: 204, description: 'It is gone.', schema: undefined },
    problems: ['glossary_not_found'],
  },
  'GET /health': {
    id: 'getHealth',
    tag: 'Health',
    summary: 'Tell whether the service can serve',
    description: 'For load balancers. Needs no key and costs the store nothing.',
    authenticated: false,
    answer: { status: 200, description: 'It can.', schema: HealthAnswer, example: { status: 'ok' } },
    problems: ['service_unavailable'],
  },
};
