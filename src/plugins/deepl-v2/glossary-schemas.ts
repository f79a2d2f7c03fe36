// Parts of what the API reference says of glossaries, shared by the routes of both versions.
import Type from 'typebox';

export const GLOSSARY_ID = '01a5e1b4-90d2-8e8a-b345-98c3a47e3ba7';
export const CREATED = '2026-11-01T09:30:00.000Z';
export const ID_PARAMETER = { description: 'The id of the glossary, a UUID.', example: GLOSSARY_ID };
export const CONTENT_TYPES = ['application/json', 'application/x-www-form-urlencoded'];

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
