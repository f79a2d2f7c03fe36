// The components of OpenAPI documents: named schemas of bodies, answers and problems, response
// headers, and ways to send a key.
import { anchorOf, problems } from '../core/problem.ts';
import type { HeaderList } from '../core/outcome.ts';
import type { Problem, ProblemCode, ProblemKind } from '../core/problem.ts';
import { PROBLEM_HEADERS } from '../core/problem-writer.ts';
import type { TSchema } from 'typebox';
import {
  CreditUsageAnswer,
  DayUsageAnswer,
  GlossariesAnswer,
  GlossaryAnswer,
  GlossaryEntriesAnswer,
  HealthAnswer,
  KeyUsageAnswer,
  LanguageAnswer,
  LanguagesAnswer,
  QuotaUsageAnswer,
  TranslateAnswer,
  TranslationAnswer,
  UsageAnswer,
} from '../domain/answers.ts';
import { GlossaryBody } from '../domain/glossary.ts';
import { TranslateBody } from '../domain/translate-request.ts';
import type { DocHeaders } from '../ports/plugin-route.ts';
import type { OpenApiOptions } from './openapi-document.ts';
import type { OpenApiNode } from './openapi-writer.ts';

/** The id of the request in every example. */
export const REQUEST_ID = '01KA6R2M7N4P6Q8S1T3V5W7X9Y';
const ULID = { type: 'string', pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$' } as const;

/** Generated clients name their types after these. */
const NAMES: ReadonlyMap<unknown, string> = new Map<TSchema, string>([
  [TranslateBody, 'TranslateRequest'],
  [TranslateAnswer, 'TranslateResponse'],
  [TranslationAnswer, 'Translation'],
  [LanguagesAnswer, 'LanguageList'],
  [LanguageAnswer, 'Language'],
  [GlossaryBody, 'GlossaryRequest'],
  [GlossariesAnswer, 'GlossaryList'],
  [GlossaryAnswer, 'Glossary'],
  [GlossaryEntriesAnswer, 'GlossaryEntries'],
  [UsageAnswer, 'Usage'],
  [QuotaUsageAnswer, 'QuotaUsage'],
  [CreditUsageAnswer, 'CreditUsage'],
  [KeyUsageAnswer, 'KeyUsage'],
  [DayUsageAnswer, 'DayUsage'],
  [HealthAnswer, 'Health'],
]);

export function bodySchemas({ sourceLanguages, targetLanguages }: OpenApiOptions): OpenApiNode {
  const schemas = Object.fromEntries(Array.from(NAMES, ([schema, name]) => [name, definition(schema)]));
  // Schemas for validation accept any string; the document lists this operator's codes.
  for (const body of [schemas['TranslateRequest'], schemas['GlossaryRequest']] as { properties: Record<string, OpenApiNode> }[]) {
    const { source_lang: source, target_lang: target } = body.properties;
    body.properties['source_lang'] = { description: source?.['description'], ...refTo('schemas', 'SourceLanguage') };
    body.properties['target_lang'] = { description: target?.['description'], ...refTo('schemas', 'TargetLanguage') };
  }
  return {
    ...schemas,
    SourceLanguage: { type: 'string', description: 'The code of a source language.', enum: sourceLanguages },
    TargetLanguage: { type: 'string', description: 'The code of a target language.', enum: targetLanguages },
  };
}

/** A schema in use: a reference if it has a name. */
export function shown(schema: TSchema): OpenApiNode {
  const name = NAMES.get(schema);
  return name === undefined ? definition(schema) : refTo('schemas', name);
}

export function refTo(kind: 'schemas' | 'headers' | 'examples', name: string): OpenApiNode {
  return { $ref: `#/components/${kind}/${name}` };
}

/** TypeBox's own markers are not enumerable: what remains is JSON Schema. */
function definition(schema: unknown): OpenApiNode {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    const name = key === '' ? undefined : NAMES.get(value);
    return name === undefined ? value : refTo('schemas', name);
  });
  return JSON.parse(text) as OpenApiNode;
}

/** Of each code, by `schemaOfProblem`. */
export function problemSchemas(codes: readonly ProblemCode[], docsUrl: string): OpenApiNode {
  return Object.fromEntries(codes.map((code) => [schemaOfProblem(code), problemSchema(code, docsUrl)]));
}

/** The name of a code's schema: `rate_limited` has `RateLimitedProblem`. */
export function schemaOfProblem(code: string): string {
  return `${code.replaceAll(/(?:^|_)(.)/g, (_match, first: string) => first.toUpperCase())}Problem`;
}

/** A code's document has the members of all, some of which are always the same, and its own. */
function problemSchema(code: ProblemCode, docsUrl: string): OpenApiNode {
  const { status, title, meaning, members }: ProblemKind = problems[code];
  const always = Object.keys(members).filter((name) => !members[name]!.optional);
  const own = Object.entries(members).map(([name, { schema }]) => [name, schema] as const);
  const constants = { type: `${docsUrl}/errors#${anchorOf(code)}`, status, code };
  const common = Object.entries(PROBLEM_MEMBERS).map(([name, schema]) => {
    const value = (constants as Readonly<Record<string, unknown>>)[name];
    return [name, value === undefined ? schema : { ...schema, const: value }] as const;
  });
  return {
    type: 'object',
    title,
    description: meaning,
    required: [...Object.keys(PROBLEM_MEMBERS), ...always],
    properties: Object.fromEntries([...common, ...own]),
  };
}

const PROBLEM_MEMBERS = {
  type: { type: 'string', format: 'uri', description: 'The explanation of the code.' },
  title: { type: 'string', description: 'The code in words.' },
  status: { type: 'integer', description: 'The status of the answer.' },
  code: { type: 'string', description: 'Its meaning never changes.' },
  detail: { type: 'string', description: 'For people; may change at any time.' },
  request_id: { ...ULID, description: 'The same as the X-Request-Id header.' },
};

/** Of the problem documents of plugins without a format of their own. */
export const PROBLEM: OpenApiNode = {
  type: 'object',
  title: 'Problem',
  description: 'What went wrong (RFC 9457). Members beyond these depend on `code`.',
  required: Object.keys(PROBLEM_MEMBERS),
  properties: PROBLEM_MEMBERS,
};

interface Header {
  readonly description: string;
  readonly schema: OpenApiNode;
  /** Whether every answer that lists it has it. */
  readonly required?: true;
  readonly example: unknown;
}

const text = { type: 'string' };

const OF_EVERY_ANSWER: Readonly<Record<string, Header>> = {
  'X-Request-Id': {
    description: 'The id of this request; the same as `request_id` in a problem.',
    schema: ULID,
    required: true,
    example: REQUEST_ID,
  },
  'Cache-Control': {
    description: 'Answers must not be cached.',
    schema: { ...text, const: 'no-store' },
    required: true,
    example: 'no-store',
  },
};

/** See draft-ietf-httpapi-ratelimit-headers; only if the operator has turned them on. */
const RATE_HEADERS: Readonly<Record<string, Header>> = {
  'RateLimit-Policy': {
    description:
      'The request rate of the team (`requests`), or of the key (`key-requests`) if less is left of that: `q` requests in any `w` seconds.',
    schema: text,
    example: '"requests";q=50;w=1',
  },
  RateLimit: {
    description: 'What is left of the rate: `r` requests within the next `t` seconds.',
    schema: text,
    example: '"requests";r=49;t=1',
  },
};

/** By name, in the order of the pages. */
export function headers({ serviceName, rateLimitHeaders }: OpenApiOptions): Readonly<Record<string, Header>> {
  const ofProblems = Object.entries(PROBLEM_HEADERS).map(([name, { description, type, valueOf }]): [string, Header] => {
    const example = valueOf({ fields: { limit: 50 } }, serviceName) ?? 'POST';
    // Numbers are required: each is listed by codes alone that always have it.
    const isNumber = type === 'integer';
    return [
      name,
      isNumber
        ? { description, schema: { type, minimum: 1 }, required: true, example: Number(example) }
        : { description, schema: text, example },
    ];
  });
  return { ...OF_EVERY_ANSWER, ...Object.fromEntries(ofProblems), ...(rateLimitHeaders ? RATE_HEADERS : {}) };
}

/** Names of the headers that any answer may have. */
export function headersOfEveryAnswer({ rateLimitHeaders }: OpenApiOptions): string[] {
  return Object.keys({ ...OF_EVERY_ANSWER, ...(rateLimitHeaders ? RATE_HEADERS : {}) });
}

/** Written where they are; one that answers have anyway has only this value here. */
export function declaredHeaders(fields: DocHeaders = {}): Readonly<Record<string, Header>> {
  const written = Object.entries(fields).map(([name, { description, example }]): [string, Header] => {
    const isOurs = name in OF_EVERY_ANSWER || name in PROBLEM_HEADERS;
    return [name, { description, required: true, schema: { ...text, ...(isOurs && { const: example }) }, example }];
  });
  return Object.fromEntries(written);
}

/** The ways in which a key can be sent in headers. */
export function securitySchemesOf({ vendorNames }: OpenApiOptions): OpenApiNode {
  const dedicated = vendorNames.map((name) => [
    // Letters and digits only, because generators make identifiers of it.
    name.replaceAll(/[^A-Za-z0-9]/g, ''),
    {
      type: 'apiKey',
      in: 'header',
      name,
      description: `The key alone; ignored if \`Authorization\` is sent. \`Authorization: ${name} <key>\` is accepted too.`,
    },
  ]);
  return {
    bearer: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'la_live_ or la_test_, and 40 letters or digits',
      description: '`Authorization: Bearer <key>`.',
    },
    ...(Object.fromEntries(dedicated) as OpenApiNode),
  };
}

/** A problem as a caller might get it, of a code that need not be in the registry. */
export function exampleOf(code: string, kind: ProblemKind): Problem {
  const { meaning, example: detail = meaning, members } = kind;
  const examples = Object.entries(members).flatMap(([name, { example }]) => (example === undefined ? [] : [[name, example] as const]));
  return { code, kind, detail, fields: Object.fromEntries(examples), headers: BROUGHT[code] ?? [] };
}

/** The headers that the refusal brings, by code. */
const BROUGHT: Readonly<Record<string, HeaderList>> = {
  method_not_allowed: [['Allow', 'POST']],
  rate_limited: [['Retry-After', '1']],
};
