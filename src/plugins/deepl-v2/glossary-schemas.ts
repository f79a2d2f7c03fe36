// What the API reference says of glossaries in both versions alike.
import Type from 'typebox';
import type { TObject } from 'typebox';
import type { ProblemCode, RouteDoc } from 'lingate';

export const GLOSSARY_ID = '01a5e1b4-90d2-8e8a-b345-98c3a47e3ba7';
export const CREATED = '2026-11-01T09:30:00.000Z';
/** What lines of entries look like. */
export const ENTRY_LINES = 'gateway\tTor\nengine\tMotor';

export const id = Type.String({ format: 'uuid', description: 'What `glossary_id` of a translation refers to.' });
export const created = Type.String({ format: 'date-time', description: 'When it was created.' });
export const name = Type.String({ description: 'For people; need not be unique. At most 1,024 bytes.' });
export const entryCount = Type.Integer({ minimum: 1, description: 'How many entries it has.' });
export const sourceLang = Type.String({ description: 'A base code.' });
export const targetLang = Type.String({ description: 'A base code: `en` serves `en-GB` and `en-US` alike.' });

export const givenLanguages = {
  source_lang: Type.String({ description: 'A code in any case; a region is dropped.' }),
  target_lang: Type.String({ description: 'A code in any case; a region is dropped.' }),
};

export const givenEntries = {
  entries: Type.String({
    description:
      'A line for each entry: term, tab, translation; with `csv` a comma, quotes where they are needed, and if you like both languages behind. ' +
      '1 to 10,000 entries, each side at most 1,024 bytes.',
  }),
  entries_format: Type.Optional(Type.String({ description: '`tsv`, the default, or `csv`.' })),
};

export const languageQuery = [
  { name: 'source_lang', description: 'Source language of the dictionary.', schema: Type.String(), required: true, example: 'en' },
  { name: 'target_lang', description: 'Target language of the dictionary.', schema: Type.String(), required: true, example: 'de' },
];

/** Of every route. */
export const common = { authenticated: true, tag: 'Glossaries' } as const;
/** Of the routes of one glossary. */
export const ofOne = { ...common, parameter: { description: 'The id of the glossary, a UUID.', example: GLOSSARY_ID } } as const;
export const formOrJson = {
  description: 'As a form or as JSON.',
  contentTypes: ['application/json', 'application/x-www-form-urlencoded'],
} as const;

export const wrongLanguages: readonly ProblemCode[] = ['invalid_source_lang', 'invalid_target_lang'];
export const notCreated: readonly ProblemCode[] = [...wrongLanguages, 'glossary_limit_reached'];
export const notFound: readonly ProblemCode[] = ['validation_error', 'glossary_not_found'];

export const gone: RouteDoc['answer'] = { status: 204, description: 'It is deleted.' };

/** Answers that show a glossary, and all of them, in the form that a version gives it. */
export function glossaryAnswers(schema: TObject, example: unknown) {
  const glossary = (status: number, description: string): RouteDoc['answer'] => ({ status, description, schema, example });
  return {
    created: glossary(201, 'It is created.'),
    shown: glossary(200, 'The glossary, without its entries.'),
    changed: glossary(200, 'The glossary as it is now.'),
    list: {
      status: 200,
      description: 'In order of creation, without their entries.',
      schema: Type.Object({ glossaries: Type.Array(schema, { description: 'In order of creation.' }) }),
      example: { glossaries: [example] },
    } satisfies RouteDoc['answer'],
  };
}
