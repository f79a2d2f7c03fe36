// What the API reference says of the glossary routes of version 3.
import Type from 'typebox';
import type { RouteDoc } from 'lingate';
import {
  common,
  CREATED,
  created,
  ENTRY_LINES,
  entryCount,
  formOrJson,
  givenEntries,
  givenLanguages,
  glossaryAnswers,
  GLOSSARY_ID,
  gone,
  id,
  languageQuery,
  name,
  notCreated,
  notFound,
  ofOne,
  sourceLang,
  targetLang,
  wrongLanguages,
} from './glossary-schemas.ts';

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

const dictionary = { source_lang: 'en', target_lang: 'de', entry_count: 2 };
const given = { source_lang: 'en', target_lang: 'de', entries: ENTRY_LINES, entries_format: 'tsv' };
const example = { glossary_id: GLOSSARY_ID, name: 'Product names', dictionaries: [dictionary], creation_time: CREATED };

const answers = glossaryAnswers(Glossary, example);

export const CREATE: RouteDoc = {
  ...common,
  summary: 'Create a glossary of several dictionaries',
  description: 'Creates a glossary, which counts as one whatever it holds. The plan limits how many there may be.',
  body: {
    ...formOrJson,
    schema: Type.Object({ name, dictionaries: Type.Optional(dictionaries) }),
    example: { name: 'Product names', dictionaries: [given] },
  },
  answer: answers.created,
  problems: notCreated,
};

export const LIST: RouteDoc = {
  ...common,
  summary: 'List all glossaries',
  description: 'Lists the glossaries of the team.',
  answer: answers.list,
};

export const SHOW: RouteDoc = {
  ...ofOne,
  summary: 'Show a glossary and its dictionaries',
  description: 'Shows what a glossary holds.',
  answer: answers.shown,
  problems: notFound,
};

export const CHANGE: RouteDoc = {
  ...ofOne,
  summary: 'Rename a glossary, add entries',
  description:
    'Gives a glossary another name, adds entries to its dictionaries, or both. A term that is there gets the new translation; a dictionary that is not there is made. ' +
    'Changes of several clients at once are all made; a translation under way keeps the entries that it began with.',
  body: {
    ...formOrJson,
    schema: Type.Object({ name: Type.Optional(name), dictionaries: Type.Optional(dictionaries) }),
    example: { dictionaries: [given] },
  },
  answer: answers.changed,
  problems: [...notFound, ...wrongLanguages],
};

export const DELETE: RouteDoc = {
  ...ofOne,
  summary: 'Delete a glossary and its dictionaries',
  description: 'Deletes a glossary with all that it holds, from the next request on.',
  answer: gone,
  problems: notFound,
};

export const ENTRIES: RouteDoc = {
  ...ofOne,
  summary: "Show a dictionary's entries",
  description: 'All entries of the dictionary of a pair of languages.',
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
  problems: [...notFound, ...wrongLanguages],
};

export const REPLACE: RouteDoc = {
  ...ofOne,
  summary: 'Replace a dictionary',
  description: 'Puts a dictionary in the place of the one of its pair of languages, or beside the others.',
  body: { ...formOrJson, schema: GivenDictionary, example: given },
  answer: { status: 200, description: 'The dictionary as it is now.', schema: Dictionary, example: dictionary },
  problems: [...notFound, ...wrongLanguages],
};

export const DROP: RouteDoc = {
  ...ofOne,
  summary: 'Delete a dictionary',
  description: 'Deletes the dictionary of a pair of languages. The glossary stays, also when it was the last.',
  query: languageQuery,
  answer: gone,
  problems: [...notFound, ...wrongLanguages],
};
