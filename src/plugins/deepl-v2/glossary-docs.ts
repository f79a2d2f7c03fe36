// The API reference's descriptions of the glossary routes of both versions.
import Type from 'typebox';
import type { TObject } from 'typebox';
import type { ProblemCode, RouteDoc } from 'lingate';
import { answered, boolean, JSON_OR_FORM, optional, required, string } from '../facades/reference.ts';

const GLOSSARY_ID = '01a5e1b4-90d2-8e8a-b345-98c3a47e3ba7';
const CREATED = '2026-11-01T09:30:00.000Z';
/** Examples of lines of entries. */
const ENTRY_LINES = 'gateway\tTor\nengine\tMotor';

const id = Type.String({ format: 'uuid', description: 'The `glossary_id` for translations.' });
const created = Type.String({ format: 'date-time', description: 'When it was created.' });
const name = string('A name; need not be unique. At most 1,024 bytes.');
const entryCount = Type.Integer({ minimum: 1, description: 'How many entries it has.' });
const sourceLang = string('A base code.');
const targetLang = string('A base code: `en` applies to `en-GB` and `en-US`.');

const givenLanguages = {
  source_lang: string('A code in any case; a region is ignored.'),
  target_lang: string('A code in any case; a region is ignored.'),
};

const givenEntries = {
  entries: string(
    'One line for each entry: term, tab, translation; with `csv` a comma, quotes if needed, and optionally both languages at the end. ' +
      '1 to 10,000 entries, each side at most 1,024 bytes.',
  ),
  entries_format: optional('`tsv` (the default) or `csv`.'),
};
const given = { source_lang: 'en', target_lang: 'de', entries: ENTRY_LINES, entries_format: 'tsv' };

const languageQuery = [
  required('source_lang', 'en', 'Source language of the dictionary.'),
  required('target_lang', 'de', 'Target language of the dictionary.'),
];

const wrongLanguages: readonly ProblemCode[] = ['invalid_source_lang', 'invalid_target_lang'];
const notCreated: readonly ProblemCode[] = [...wrongLanguages, 'glossary_limit_reached'];
const notFound: readonly ProblemCode[] = ['validation_error', 'glossary_not_found'];

const gone: RouteDoc['answer'] = { status: 204, description: 'Deleted.' };

/** A route of all glossaries. */
function all(summary: string, description: string, answer: RouteDoc['answer'], more: Partial<RouteDoc> = {}): RouteDoc {
  return { authenticated: true, tag: 'Glossaries', summary, description, answer, ...more };
}

/** A route of one glossary. */
function one(summary: string, description: string, answer: RouteDoc['answer'], more: Partial<RouteDoc> = {}): RouteDoc {
  const parameter = { description: 'The id of the glossary, a UUID.', example: GLOSSARY_ID };
  return all(summary, description, answer, { parameter, problems: notFound, ...more });
}

function formOrJson(schema: TObject, example: unknown): NonNullable<RouteDoc['body']> {
  return { description: 'As a form or as JSON.', contentTypes: JSON_OR_FORM, schema, example };
}

/** The answers of one version that show one glossary, or all of them. */
function glossaryAnswers(schema: TObject, example: unknown) {
  return {
    created: { ...answered('Created.', schema, example), status: 201 },
    shown: answered('The glossary, without its entries.', schema, example),
    changed: answered('The changed glossary.', schema, example),
    list: answered(
      'The glossaries in order of creation, without their entries.',
      Type.Object({ glossaries: Type.Array(schema, { description: 'In order of creation.' }) }),
      { glossaries: [example] },
    ),
  };
}

const answersV2 = glossaryAnswers(
  Type.Object({
    glossary_id: id,
    name,
    ready: boolean('Always true: it can be used at once.'),
    source_lang: sourceLang,
    target_lang: targetLang,
    creation_time: created,
    entry_count: entryCount,
  }),
  {
    glossary_id: GLOSSARY_ID,
    name: 'Product names',
    ready: true,
    source_lang: 'en',
    target_lang: 'de',
    creation_time: CREATED,
    entry_count: 2,
  },
);

export const V2 = {
  create: all(
    'Create a glossary',
    'Creates a glossary for one language pair. The plan limits the number of glossaries.',
    answersV2.created,
    {
      body: formOrJson(Type.Object({ name, ...givenLanguages, ...givenEntries }), { name: 'Product names', ...given }),
      problems: notCreated,
    },
  ),
  list: all('List glossaries', "Lists the team's glossaries with one dictionary; version 3 also lists the others.", answersV2.list),
  show: one('Show a glossary', 'Shows a glossary with one dictionary.', answersV2.shown),
  entries: one("Show a glossary's entries", 'All entries of a glossary with one dictionary.', {
    ...answered('One line for each: term, tab, translation.', string('Tab-separated values.'), ENTRY_LINES),
    contentType: 'text/tab-separated-values',
  }),
  delete: one('Delete a glossary', 'Deletes a glossary with one dictionary. It takes effect at the next request.', gone),
  pairs: all(
    'List language pairs',
    'The language pairs for glossaries; none if the engine takes no glossaries.',
    answered(
      'All pairs.',
      Type.Object({
        supported_languages: Type.Array(Type.Object({ source_lang: sourceLang, target_lang: targetLang }), { description: 'All pairs.' }),
      }),
      { supported_languages: [{ source_lang: 'en', target_lang: 'de' }] },
    ),
  ),
};

const Dictionary = Type.Object({ source_lang: sourceLang, target_lang: targetLang, entry_count: entryCount });
const dictionary = { source_lang: 'en', target_lang: 'de', entry_count: 2 };
const GivenDictionary = Type.Object({ ...givenLanguages, ...givenEntries });
const dictionaries = Type.Array(GivenDictionary, {
  maxItems: 100,
  description:
    'At most 100, each for a different language pair. In a form: `dictionaries[0].source_lang`, `dictionaries[0].entries` and so on.',
});

const answersV3 = glossaryAnswers(
  Type.Object({
    glossary_id: id,
    name,
    dictionaries: Type.Array(Dictionary, { description: 'One for each language pair, without entries.' }),
    creation_time: created,
  }),
  { glossary_id: GLOSSARY_ID, name: 'Product names', dictionaries: [dictionary], creation_time: CREATED },
);
const ofPair = { problems: [...notFound, ...wrongLanguages] } as const;

export const V3 = {
  create: all(
    'Create a glossary with several dictionaries',
    'Creates a glossary, which counts as one, however many dictionaries it has. The plan limits the number of glossaries.',
    answersV3.created,
    {
      body: formOrJson(Type.Object({ name, dictionaries: Type.Optional(dictionaries) }), { name: 'Product names', dictionaries: [given] }),
      problems: notCreated,
    },
  ),
  list: all('List all glossaries', 'Lists the glossaries of the team.', answersV3.list),
  show: one('Show a glossary and its dictionaries', 'Shows a glossary.', answersV3.shown),
  change: one(
    'Rename a glossary, add entries',
    'Changes the name of a glossary, adds entries to its dictionaries, or both. An existing term gets the new translation; a missing dictionary is created. ' +
      'Concurrent changes are all applied; a translation in progress keeps the entries with which it started.',
    answersV3.changed,
    {
      ...ofPair,
      body: formOrJson(Type.Object({ name: Type.Optional(name), dictionaries: Type.Optional(dictionaries) }), { dictionaries: [given] }),
    },
  ),
  delete: one(
    'Delete a glossary and its dictionaries',
    'Deletes a glossary with all its dictionaries. It takes effect at the next request.',
    gone,
  ),
  entries: one(
    "Show a dictionary's entries",
    'All entries of the dictionary for a language pair.',
    answered(
      'The dictionary.',
      Type.Object({
        dictionaries: Type.Array(
          Type.Object({
            source_lang: sourceLang,
            target_lang: targetLang,
            entries: string('One line for each entry: term, tab, translation.'),
            entries_format: Type.Literal('tsv', { description: 'Always `tsv`.' }),
          }),
          { description: 'One.' },
        ),
      }),
      { dictionaries: [given] },
    ),
    { ...ofPair, query: languageQuery },
  ),
  replace: one(
    'Replace a dictionary',
    'Replaces the dictionary for a language pair, or adds it.',
    answered('The dictionary.', Dictionary, dictionary),
    { ...ofPair, body: formOrJson(GivenDictionary, given) },
  ),
  drop: one('Delete a dictionary', 'Deletes the dictionary for a language pair. The glossary stays, even without dictionaries.', gone, {
    ...ofPair,
    query: languageQuery,
  }),
};
