// What the API reference says of the glossary routes of version 3.
import Type from 'typebox';
import type { RouteDoc } from 'lingate';
import {
  CONTENT_TYPES,
  CREATED,
  created,
  entryCount,
  givenEntries,
  givenLanguages,
  GLOSSARY_ID,
  id,
  ID_PARAMETER,
  name,
} from './glossary-schemas.ts';
import { languageQuery, sourceLang, targetLang } from './glossary-schemas.ts';

const common = { authenticated: true, tag: 'Glossaries' } as const;
const found = ['validation_error', 'glossary_not_found'] as const;
const languages = ['invalid_source_lang', 'invalid_target_lang'] as const;

const Dictionary = Type.Object({ source_lang: sourceLang, target_lang: targetLang, entry_count: entryCount });
const Glossary = Type.Object({
  glossary_id: id,
  name,
  dictionaries: Type.Array(Dictionary, { description: 'One for each pair of languages, without their entries.' }),
  creation_time: created,
});
const GivenDictionary = Type.Object({ ...givenLanguages, ...givenEntries });
const dictionaries = Type.Array(GivenDictionary, {
  maxItems: 100,
  description:
    'At most 100, each for another pair of languages. In a form: `dictionaries[0].source_lang`, `dictionaries[0].entries` and so on.',
});

const entries = 'gateway\tTor\nengine\tMotor';
const dictionary = { source_lang: 'en', target_lang: 'de', entry_count: 2 };
const given = { source_lang: 'en', target_lang: 'de', entries, entries_format: 'tsv' };
const example = { glossary_id: GLOSSARY_ID, name: 'Product names', dictionaries: [dictionary], creation_time: CREATED };

export const CREATE: RouteDoc = {
  ...common,
  summary: 'Create a glossary of several dictionaries',
  description: 'Creates a glossary, which counts as one whatever it holds. The plan limits how many there may be.',
  body: {
    description: 'As a form or as JSON.',
    schema: Type.Object({ name, dictionaries: Type.Optional(dictionaries) }),
    example: { name: 'Product names', dictionaries: [given] },
    contentTypes: CONTENT_TYPES,
  },
  answer: { status: 201, description: 'It is created.', schema: Glossary, example },
  problems: [...languages, 'glossary_limit_reached'],
};

export const LIST: RouteDoc = {
  ...common,
  summary: 'List all glossaries',
  description: 'Lists the glossaries of the team.',
  answer: {
    status: 200,
    description: 'In order of creation, without their entries.',
    schema: Type.Object({ glossaries: Type.Array(Glossary, { description: 'In order of creation.' }) }),
    example: { glossaries: [example] },
  },
};

export const SHOW: RouteDoc = {
  ...common,
  summary: 'Show a glossary and its dictionaries',
  description: 'Shows what a glossary holds.',
  parameter: ID_PARAMETER,
  answer: { status: 200, description: 'The glossary, without its entries.', schema: Glossary, example },
  problems: found,
};

export const CHANGE: RouteDoc = {
  ...common,
  summary: 'Rename a glossary, add entries',
  description:
    'Gives a glossary another name, adds entries to its dictionaries, or both. A term that is there gets the new translation; a dictionary that is not there is made. ' +
    'Changes of several clients at once are all made; a translation under way keeps the entries that it began with.',
  parameter: ID_PARAMETER,
  body: {
    description: 'As a form or as JSON.',
    schema: Type.Object({ name: Type.Optional(name), dictionaries: Type.Optional(dictionaries) }),
    example: { dictionaries: [given] },
    contentTypes: CONTENT_TYPES,
  },
  answer: { status: 200, description: 'The glossary as it is now.', schema: Glossary, example },
  problems: [...found, ...languages],
};

export const DELETE: RouteDoc = {
  ...common,
  summary: 'Delete a glossary and its dictionaries',
  description: 'Deletes a glossary with all that it holds, from the next request on.',
  parameter: ID_PARAMETER,
  answer: { status: 204, description: 'It is gone.' },
  problems: found,
};

export const ENTRIES: RouteDoc = {
  ...common,
  summary: "Show a dictionary's entries",
  description: 'All entries of the dictionary of a pair of languages.',
  parameter: ID_PARAMETER,
  query: languageQuery,
  answer: {
    status: 200,
    description: 'The dictionary.',
    schema: Type.Object({
      dictionaries: Type.Array(
        Type.Object({
          source_lang: sourceLang,
          target_lang: targetLang,
          entries: Type.String({ description: 'A line for each entry: term, tab, translation.' }),
          entries_format: Type.Literal('tsv', { description: 'Always `tsv`.' }),
        }),
        { description: 'One.' },
      ),
    }),
    example: { dictionaries: [given] },
  },
  problems: [...found, ...languages],
};

export const REPLACE: RouteDoc = {
  ...common,
  summary: 'Replace a dictionary',
  description: 'Puts a dictionary in the place of the one of its pair of languages, or beside the others.',
  parameter: ID_PARAMETER,
  body: { description: 'As a form or as JSON.', schema: GivenDictionary, example: given, contentTypes: CONTENT_TYPES },
  answer: { status: 200, description: 'The dictionary as it is now.', schema: Dictionary, example: dictionary },
  problems: [...found, ...languages],
};

export const DROP: RouteDoc = {
  ...common,
  summary: 'Delete a dictionary',
  description: 'Deletes the dictionary of a pair of languages. The glossary stays, also when it was the last.',
  parameter: ID_PARAMETER,
  query: languageQuery,
  answer: { status: 204, description: 'It is gone.' },
  problems: [...found, ...languages],
};
