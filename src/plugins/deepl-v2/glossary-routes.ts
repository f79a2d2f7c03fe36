// The glossary operations. In version 2 a glossary is one list of terms for one language pair; in
// version 3 it has any number of dictionaries.
import { isLarge, isUnavailable, JSON_TYPE, keyOwnerSlot, NO_HEADERS, pacedReply, problemsTo, refuse, STORE_UNAVAILABLE } from 'lingate';
import type { EntryPieces, Exchange, GatewayServices, GlossaryRecord, Languages, Outcome, PluginHost, Refusal } from 'lingate';
import Type from 'typebox';
import type { Members } from '../facades/members.ts';
import { answer, operation } from '../facades/operation.ts';
import type { ApiPart, FacadeApi, OperationDoc } from '../facades/operation.ts';
import { isRefusal, readAll } from '../facades/parameters.ts';
import type { ParameterEntry } from '../facades/parameters.ts';
import { answered, JSON_OR_FORM, shown, string } from '../facades/reference.ts';
import { membersOf } from './deepl-request.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';
import * as model from './glossary-model.ts';
import { monolingual, multilingual, NOT_FOUND, NOTHING_DRAFTED, shownDictionary, shownPair, ulidOf } from './glossary-model.ts';
import type { DictionaryDraft, SentGlossary } from './glossary-model.ts';
import {
  addEntries,
  createGlossary,
  dropDictionary,
  findEntries,
  findGlossary,
  heldFor,
  NO_DICTIONARY,
  putDictionary,
} from './glossary-store.ts';
import type { FoundDictionary, GlossaryPlace } from './glossary-store.ts';

const GLOSSARY_ID = '01a5e1b4-90d2-8e8a-b345-98c3a47e3ba7';
const PARAMETER = { description: 'The id of the glossary, a UUID.', example: GLOSSARY_ID };
const INVALID_ID = refuse('validation_error', 'Invalid or missing glossary id.');
const ID = ulidOf(GLOSSARY_ID)!;
const DICTIONARY = { dictionaryId: ID, sourceLang: 'EN', targetLang: 'DE', entryCount: 2 };
/** The glossary of the examples. */
const GLOSSARY: GlossaryRecord = {
  glossaryId: ID,
  name: 'Product names',
  revision: 1,
  dictionaries: [DICTIONARY],
  createdAtMs: Date.parse('2026-11-01T09:30:00.000Z'),
};
const ENTRIES = 'gateway\tTor\nengine\tMotor';
const GIVEN = { ...shownPair(DICTIONARY), entries: ENTRIES, entries_format: 'tsv' };

/** What the members of answers are. */
const WORDS = {
  glossaries: 'In order of creation.',
  supported_languages: 'All pairs.',
  glossary_id: Type.String({ format: 'uuid', description: 'The `glossary_id` for translations.' }),
  name: string(model.NAME.about),
  ready: 'Always true: it can be used at once.',
  dictionaries: 'One for each language pair, without entries.',
  source_lang: 'A base code.',
  target_lang: 'A base code: `en` applies to `en-GB` and `en-US`.',
  creation_time: Type.String({ format: 'date-time', description: 'When it was created.' }),
  entry_count: Type.Integer({ minimum: 1, description: 'How many entries it has.' }),
  entries: 'One line for each entry: term, tab, translation.',
  entries_format: Type.Literal('tsv', { description: 'Always `tsv`.' }),
};

const GONE: OperationDoc['answer'] = { status: 204, description: 'Deleted.' };
const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: NO_HEADERS };
const NO_SUCH_PAIR = [...problemsTo('glossary'), 'invalid_source_lang', 'invalid_target_lang'];

/** A request after its admission. */
interface Asked extends GlossaryPlace {
  readonly services: GatewayServices;
}

interface GlossaryOperation extends Pick<OperationDoc, 'answer' | 'problems'> {
  readonly at: readonly [name: string, method: string, path: string];
  readonly says: readonly [summary: string, description: string];
  readonly parameters?: readonly ParameterEntry<SentGlossary, Languages>[];
  /** Of a body with the parameters, which are in the query if it has none. */
  readonly example?: unknown;
  readonly run: (asked: Asked, draft: SentGlossary) => Outcome | Promise<Outcome>;
}

export function glossaries(api: FacadeApi, host: PluginHost): readonly ApiPart[] {
  const running: GlossaryPlace['running'] = new Map();
  const partOf = ({ at, says: [summary, description], parameters = [], example, run, ...doc }: GlossaryOperation): ApiPart => {
    const [name, method, path] = at;
    const isOfOne = path.includes('{id}');
    const idIn = (x: Exchange): string | undefined => (isOfOne ? ulidOf(x.pathParameter) : '');
    return operation<Members, SentGlossary>(api, host, {
      problems: isOfOne ? problemsTo('glossary') : undefined,
      ...doc,
      name,
      at: `${method} ${path}`,
      summary,
      description,
      parameter: isOfOne ? PARAMETER : undefined,
      parameters,
      body: example === undefined ? undefined : { description: 'As a form or as JSON.', contentTypes: JSON_OR_FORM, example },
      tag: 'Glossaries',
      scope: method === 'GET' ? 'glossaries:read' : 'glossaries:write',
      read(x, services) {
        const members = example === undefined ? new Map(new URLSearchParams(x.head.query)) : membersOf(x, services);
        return isRefusal(members) ? members : model.withDictionaries(members);
      },
      nothing: NOTHING_DRAFTED,
      judge(draft, members, _offer, x, services) {
        // The id counts before a query, and after a body.
        if (example === undefined && idIn(x) === undefined) return INVALID_ID;
        return readAll(parameters, members, draft, services.languages());
      },
      run(draft, x, services) {
        const glossaryId = idIn(x);
        if (glossaryId === undefined) return INVALID_ID;
        const { teamId } = x.need(keyOwnerSlot);
        return run({ services, glossaries: services.glossaries, newId: () => services.newId(), teamId, glossaryId, running }, draft);
      },
    });
  };
  return [...VERSIONS.flatMap(ofBoth), ...ONLY_V2, ...ONLY_V3].map(partOf);
}

/** What versions say and do differently on the routes that both have. */
interface Version {
  /** The end of the names of its steps. */
  readonly suffix: string;
  readonly path: string;
  readonly says: Readonly<Record<'create' | 'list' | 'show' | 'delete', GlossaryOperation['says']>>;
  readonly parameters: GlossaryOperation['parameters'];
  readonly example: unknown;
  readonly draftsIn: (draft: SentGlossary) => readonly DictionaryDraft[];
  /** A glossary as it is answered; `undefined` for one that is invisible. */
  readonly show: (glossary: GlossaryRecord) => object | undefined;
}

const VERSIONS: readonly Version[] = [
  {
    suffix: '',
    path: '/v2/glossaries',
    says: {
      create: ['Create a glossary', 'Creates a glossary for one language pair. The plan limits the number of glossaries.'],
      list: ['List glossaries', "Lists the team's glossaries with one dictionary; version 3 also lists the others."],
      show: ['Show a glossary', 'Shows a glossary with one dictionary.'],
      delete: ['Delete a glossary', 'Deletes a glossary with one dictionary. It takes effect at the next request.'],
    },
    parameters: [model.NAME, ...model.DICTIONARY],
    example: { name: GLOSSARY.name, ...GIVEN },
    draftsIn: (draft) => [draft],
    show: monolingual,
  },
  {
    suffix: '-v3',
    path: '/v3/glossaries',
    says: {
      create: [
        'Create a glossary with several dictionaries',
        'Creates a glossary, which counts as one, however many dictionaries it has. The plan limits the number of glossaries.',
      ],
      list: ['List all glossaries', 'Lists the glossaries of the team.'],
      show: ['Show a glossary and its dictionaries', 'Shows a glossary.'],
      delete: [
        'Delete a glossary and its dictionaries',
        'Deletes a glossary with all its dictionaries. It takes effect at the next request.',
      ],
    },
    parameters: [model.NAME, model.DICTIONARIES],
    example: { name: GLOSSARY.name, dictionaries: [GIVEN] },
    draftsIn: ({ dictionaries }) => dictionaries,
    show: multilingual,
  },
];

function ofBoth({ suffix, path, says, parameters, example, draftsIn, show }: Version): readonly GlossaryOperation[] {
  return [
    {
      at: [`create-glossary${suffix}`, 'POST', path],
      says: says.create,
      parameters,
      example,
      answer: { ...shown('Created.', WORDS, show(GLOSSARY)), status: 201 },
      problems: problemsTo('new_glossary'),
      run: async (asked, draft) => replyWith(show, await createGlossary(asked, draft.name!, draftsIn(draft)), 201),
    },
    {
      at: [`list-glossaries${suffix}`, 'GET', path],
      says: says.list,
      answer: shown('The glossaries in order of creation, without their entries.', WORDS, { glossaries: [show(GLOSSARY)] }),
      async run({ glossaries: store, teamId }) {
        const list = await store.list(teamId);
        return isUnavailable(list) ? STORE_UNAVAILABLE : answer({ glossaries: list.flatMap((glossary) => show(glossary) ?? []) });
      },
    },
    {
      at: [`show-glossary${suffix}`, 'GET', `${path}/{id}`],
      says: says.show,
      answer: shown('The glossary, without its entries.', WORDS, show(GLOSSARY)),
      run: async ({ glossaries: store, teamId, glossaryId }) => replyWith(show, await findGlossary(store, teamId, glossaryId)),
    },
    {
      at: [`delete-glossary${suffix}`, 'DELETE', `${path}/{id}`],
      says: says.delete,
      answer: GONE,
      async run({ glossaries: store, teamId, glossaryId }) {
        const glossary = await findGlossary(store, teamId, glossaryId);
        if ('problem' in glossary) return glossary;
        if (show(glossary) === undefined) return NOT_FOUND;
        const removed = await store.remove(teamId, glossaryId);
        return isUnavailable(removed) ? STORE_UNAVAILABLE : removed ? DELETED : NOT_FOUND;
      },
    },
  ];
}

const TSV = 'text/tab-separated-values; charset=UTF-8';

const ONLY_V2: readonly GlossaryOperation[] = [
  {
    at: ['show-entries', 'GET', '/v2/glossaries/{id}/entries'],
    says: ["Show a glossary's entries", 'All entries of a glossary with one dictionary.'],
    answer: {
      ...answered('One line for each: term, tab, translation.', string('Tab-separated values.'), ENTRIES),
      contentType: 'text/tab-separated-values',
    },
    async run(asked) {
      const look = await findEntries(asked, ({ dictionaries: [only, other] }) =>
        only === undefined || other !== undefined ? NOT_FOUND : only,
      );
      if ('problem' in look) return look;
      const { pieces } = look.found;
      if (pieces !== undefined && isLarge(pieces)) return pacedReply(TSV, tsvPieces(pieces, false));
      return { kind: 'reply', status: 200, contentType: TSV, body: entriesTsv(look.found.entries), headers: NO_HEADERS };
    },
  },
  {
    at: ['language-pairs', 'GET', '/v2/glossary-language-pairs'],
    says: ['List language pairs', 'The language pairs for glossaries; none if the engine takes no glossaries.'],
    answer: shown('All pairs.', WORDS, { supported_languages: [shownPair(DICTIONARY)] }),
    run({ services }) {
      const pairs = services.engineCan.glossaries ? model.languagePairs(services.languages()) : [];
      return answer({ supported_languages: pairs.map(shownPair) });
    },
  },
];

const ONLY_V3: readonly GlossaryOperation[] = [
  {
    at: ['show-entries-v3', 'GET', '/v3/glossaries/{id}/entries'],
    says: ["Show a dictionary's entries", 'All entries of the dictionary for a language pair.'],
    parameters: model.PAIR,
    answer: shown('The dictionary.', { ...WORDS, dictionaries: 'One.' }, { dictionaries: [GIVEN] }),
    problems: NO_SUCH_PAIR,
    async run(asked, draft) {
      const look = await findEntries(asked, ({ dictionaries }) => heldFor(dictionaries, draft) ?? NO_DICTIONARY);
      return 'problem' in look ? look : entriesReply(look);
    },
  },
  {
    at: ['change-glossary', 'PATCH', '/v3/glossaries/{id}'],
    says: [
      'Rename a glossary, add entries',
      'Changes the name of a glossary, adds entries to its dictionaries, or both. An existing term gets the new translation; a missing dictionary is created. ' +
        'Concurrent changes are all applied; a translation in progress keeps the entries with which it started.',
    ],
    parameters: [model.NEW_NAME, model.DICTIONARIES],
    example: { dictionaries: [GIVEN] },
    answer: shown('The changed glossary.', WORDS, multilingual(GLOSSARY)),
    problems: NO_SUCH_PAIR,
    run: async (asked, draft) => replyWith(multilingual, await addEntries(asked, draft)),
  },
  {
    at: ['replace-dictionary', 'PUT', '/v3/glossaries/{id}/dictionaries'],
    says: ['Replace a dictionary', 'Replaces the dictionary for a language pair, or adds it.'],
    parameters: model.DICTIONARY,
    example: GIVEN,
    answer: shown('The dictionary.', WORDS, shownDictionary(DICTIONARY)),
    problems: NO_SUCH_PAIR,
    run: async (asked, draft) =>
      replyWith(({ dictionaries }) => shownDictionary(heldFor(dictionaries, draft)!), await putDictionary(asked, draft)),
  },
  {
    at: ['drop-dictionary', 'DELETE', '/v3/glossaries/{id}/dictionaries'],
    says: ['Delete a dictionary', 'Deletes the dictionary for a language pair. The glossary stays, even without dictionaries.'],
    parameters: model.PAIR,
    answer: GONE,
    problems: NO_SUCH_PAIR,
    async run(asked, draft) {
      const glossary = await dropDictionary(asked, draft);
      return 'problem' in glossary ? glossary : DELETED;
    },
  },
];

function replyWith(show: Version['show'], glossary: GlossaryRecord | Refusal, status?: number): Outcome {
  if ('problem' in glossary) return glossary;
  const visible = show(glossary);
  return visible === undefined ? NOT_FOUND : answer(visible, status);
}

function entriesReply({ dictionary, found }: FoundDictionary): Outcome {
  const { pieces } = found;
  const withEntries = (tsv: string) => ({ dictionaries: [{ ...shownPair(dictionary), entries: tsv, entries_format: 'tsv' }] });
  if (pieces === undefined || !isLarge(pieces)) return answer(withEntries(entriesTsv(found.entries)));
  const [before = '', after = ''] = JSON.stringify(withEntries('')).split('"entries":""');
  return pacedReply(JSON_TYPE, quotedTsv(`${before}"entries":"`, pieces, `"${after}`));
}

function* quotedTsv(before: string, pieces: EntryPieces, after: string): Generator<Uint8Array, void> {
  yield Buffer.from(before);
  yield* tsvPieces(pieces, true);
  yield Buffer.from(after);
}
