// The schemas of the OpenAPI document: those of bodies and answers, by name, as the JSON Schema that they are.
import type { TSchema } from 'typebox';
import {
  CreditUsageAnswer,
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
import type { OpenApiNode, OpenApiOptions } from './openapi-document.ts';

export const ULID = { type: 'string', pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$' } as const;

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
  [HealthAnswer, 'Health'],
]);

export function bodySchemas({ sourceLanguages, targetLanguages }: OpenApiOptions): OpenApiNode {
  const schemas: OpenApiNode = {};
  for (const [schema, name] of NAMES) schemas[name] = definition(schema);
  // The schemas that validate take any string, and look it up in either case; the document lists this operator's codes.
  for (const body of [schemas['TranslateRequest'], schemas['GlossaryRequest']] as { properties: Record<string, OpenApiNode> }[]) {
    const { source_lang: source, target_lang: target } = body.properties;
    body.properties['source_lang'] = { description: source?.['description'], ...refTo('schemas', 'SourceLanguage') };
    body.properties['target_lang'] = { description: target?.['description'], ...refTo('schemas', 'TargetLanguage') };
  }
  return {
    ...schemas,
    SourceLanguage: { type: 'string', description: 'A code that a text may be in.', enum: sourceLanguages },
    TargetLanguage: { type: 'string', description: 'A code that texts may be translated into.', enum: targetLanguages },
  };
}

/** A schema where one is used: by its name if it has one. */
export function shown(schema: TSchema): OpenApiNode {
  const name = NAMES.get(schema);
  return name === undefined ? definition(schema) : refTo('schemas', name);
}

export function refTo(kind: 'schemas' | 'headers' | 'responses' | 'examples', name: string): OpenApiNode {
  return { $ref: `#/components/${kind}/${name}` };
}

/** TypeBox's own markers are not enumerable: what is left is JSON Schema. */
function definition(schema: unknown): OpenApiNode {
  const text = JSON.stringify(schema, (key, value: unknown) => {
    const name = key === '' ? undefined : NAMES.get(value);
    return name === undefined ? value : refTo('schemas', name);
  });
  return JSON.parse(text) as OpenApiNode;
}
