// What the API reference says of the glossary routes of version 2.
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
  name,
  notCreated,
  notFound,
  ofOne,
  sourceLang,
  targetLang,
} from './glossary-schemas.ts';

const Glossary = Type.Object({
  glossary_id: id,
  name,
  ready: Type.Boolean({ description: 'Always true: it can be used at once.' }),
  source_lang: sourceLang,
  target_lang: targetLang,
  creation_time: created,
  entry_count: entryCount,
});

const example = {
  glossary_id: GLOSSARY_ID,
  name: 'Product names',
  ready: true,
  source_lang: 'en',
  target_lang: 'de',
  creation_time: CREATED,
  entry_count: 2,
};

const answers = glossaryAnswers(Glossary, example);

export const CREATE: RouteDoc = {
  ...common,
  summary: 'Create a glossary',
  description: 'Creates a glossary for one pair of languages. The plan limits how many there may be.',
  body: {
    ...formOrJson,
    schema: Type.Object({ name, ...givenLanguages, ...givenEntries }),
    example: { name: 'Product names', source_lang: 'en', target_lang: 'de', entries: ENTRY_LINES, entries_format: 'tsv' },
  },
  answer: answers.created,
  problems: notCreated,
};

export const LIST: RouteDoc = {
  ...common,
  summary: 'List glossaries',
  description: 'Lists the glossaries of the team that hold one dictionary; the routes of version 3 list the others, too.',
  answer: answers.list,
};

export const SHOW: RouteDoc = {
  ...ofOne,
  summary: 'Show a glossary',
  description: 'Shows a glossary that holds one dictionary.',
  answer: answers.shown,
  problems: notFound,
};

export const ENTRIES: RouteDoc = {
  ...ofOne,
  summary: "Show a glossary's entries",
  description: 'All entries of a glossary that holds one dictionary.',
  answer: {
    status: 200,
    description: 'A line for each: term, tab, translation.',
    schema: Type.String({ description: 'Tab-separated values.' }),
    example: ENTRY_LINES,
    contentType: 'text/tab-separated-values',
  },
  problems: notFound,
};

export const DELETE: RouteDoc = {
  ...ofOne,
  summary: 'Delete a glossary',
  description: 'Deletes a glossary that holds one dictionary, from the next request on.',
  answer: gone,
  problems: notFound,
};

export const PAIRS: RouteDoc = {
  ...common,
  summary: 'List language pairs',
  description: 'The pairs of languages that glossaries can be of; none where the engine takes no glossaries.',
  answer: {
    status: 200,
    description: 'All pairs.',
    schema: Type.Object({
      supported_languages: Type.Array(Type.Object({ source_lang: sourceLang, target_lang: targetLang }), { description: 'All pairs.' }),
    }),
    example: { supported_languages: [{ source_lang: 'en', target_lang: 'de' }] },
  },
};
