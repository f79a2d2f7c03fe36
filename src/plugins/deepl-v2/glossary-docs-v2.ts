// What the API reference says of the glossary routes of version 2.
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
import { sourceLang, targetLang } from './glossary-schemas.ts';

const common = { authenticated: true, tag: 'Glossaries' } as const;

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

const entries = 'gateway\tTor\nengine\tMotor';

export const CREATE: RouteDoc = {
  ...common,
  summary: 'Create a glossary',
  description: 'Creates a glossary for one pair of languages. The plan limits how many there may be.',
  body: {
    description: 'As a form or as JSON.',
    schema: Type.Object({ name, ...givenLanguages, ...givenEntries }),
    example: { name: 'Product names', source_lang: 'en', target_lang: 'de', entries, entries_format: 'tsv' },
    contentTypes: CONTENT_TYPES,
  },
  answer: { status: 201, description: 'It is created.', schema: Glossary, example },
  problems: ['invalid_source_lang', 'invalid_target_lang', 'glossary_limit_reached'],
};

export const LIST: RouteDoc = {
  ...common,
  summary: 'List glossaries',
  description: 'Lists the glossaries of the team that hold one dictionary; the routes of version 3 list the others, too.',
  answer: {
    status: 200,
    description: 'In order of creation, without their entries.',
    schema: Type.Object({ glossaries: Type.Array(Glossary, { description: 'In order of creation.' }) }),
    example: { glossaries: [example] },
  },
};

export const SHOW: RouteDoc = {
  ...common,
  summary: 'Show a glossary',
  description: 'Shows a glossary that holds one dictionary.',
  parameter: ID_PARAMETER,
  answer: { status: 200, description: 'The glossary, without its entries.', schema: Glossary, example },
  problems: ['validation_error', 'glossary_not_found'],
};

export const ENTRIES: RouteDoc = {
  ...common,
  summary: "Show a glossary's entries",
  description: 'All entries of a glossary that holds one dictionary.',
  parameter: ID_PARAMETER,
  answer: {
    status: 200,
    description: 'A line for each: term, tab, translation.',
    schema: Type.String({ description: 'Tab-separated values.' }),
    example: entries,
    contentType: 'text/tab-separated-values',
  },
  problems: ['validation_error', 'glossary_not_found'],
};

export const DELETE: RouteDoc = {
  ...common,
  summary: 'Delete a glossary',
  description: 'Deletes a glossary that holds one dictionary, from the next request on.',
  parameter: ID_PARAMETER,
  answer: { status: 204, description: 'It is gone.' },
  problems: ['validation_error', 'glossary_not_found'],
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
