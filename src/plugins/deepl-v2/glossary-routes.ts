// The glossary operations. In version 2 a glossary is one list of terms for one language pair; in
// version 3 it has any number of dictionaries.
import { isLarge, isUnavailable, JSON_TYPE, keyOwnerSlot, NO_HEADERS, pacedReply, problemsTo, STORE_UNAVAILABLE } from 'lingate';
import type { EntryPieces, Exchange, GatewayServices, GlossaryRecord, LanguagePair, Languages } from 'lingate';
import type { Outcome, PluginHost, Scope } from 'lingate';
import Type from 'typebox';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation, plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi, OperationDoc } from '../facades/facade-operation.ts';
import type { Judged, Members } from '../facades/members.ts';
import { answered, required, shown, string } from '../facades/reference.ts';
import { membersOf } from './deepl-request.ts';
import {
  DELETED,
  INVALID_ID,
  languagePairs,
  monolingual,
  multilingual,
  NO_DICTIONARY,
  NOT_FOUND,
  shownDictionary,
  shownPair,
  ulidOf,
} from './glossary-answer.ts';
import {
  DICTIONARIES_DOC,
  DICTIONARY_DOC,
  formOrJson,
  judgeAdditions,
  judgeDictionaries,
  judgeDictionary,
  judgeGlossary,
  judgePair,
  NAME_DOC,
} from './glossary-body.ts';
import type { DictionaryDraft } from './glossary-body.ts';
import { createGlossary, findEntries, findGlossary, GlossaryChanges, heldFor } from './glossary-change.ts';
import type { FoundDictionary } from './glossary-change.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';

const GLOSSARY_ID = '01a5e1b4-90d2-8e8a-b345-98c3a47e3ba7';
const PARAMETER = { description: 'The id of the glossary, a UUID.', example: GLOSSARY_ID };
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
  name: NAME_DOC,
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
const OF_PAIR = [
  required('source_lang', 'en', 'Source language of the dictionary.'),
  required('target_lang', 'de', 'Target language of the dictionary.'),
];
const NO_SUCH_PAIR = [...problemsTo('glossary'), 'invalid_source_lang', 'invalid_target_lang'];

/** In the paths of one glossary. */
const ONE = '{id}';

/** An operation's name and only route, and what the reference says of it. */
interface GlossaryDoc extends Pick<OperationDoc, 'body' | 'query' | 'answer' | 'problems'> {
  readonly at: readonly [name: string, method: string, path: string];
  readonly says: readonly [summary: string, description: string];
}

/** A request after its admission. */
interface Asked {
  readonly x: Exchange;
  readonly services: GatewayServices;
  readonly changes: GlossaryChanges;
  readonly teamId: string;
  /** Of the glossary in the path, on the routes of one. */
  readonly id: string;
}

function described({ at: [name, method, path], says: [summary, description], ...doc }: GlossaryDoc) {
  const isOfOne = path.includes(ONE);
  const place = { at: `${method} ${path}`, summary, description, parameter: isOfOne ? PARAMETER : undefined };
  const scope: Scope = method === 'GET' ? 'glossaries:read' : 'glossaries:write';
  return { ...(isOfOne && { problems: problemsTo('glossary') }), ...doc, name, ...place, parameters: [], tag: 'Glossaries', scope };
}

/** `judge` reads the body before the admission, on the routes that have one. */
interface GlossaryOperation<Draft> extends GlossaryDoc {
  readonly judge?: (members: Members, languages: Languages) => Judged<Draft>;
  readonly run: (asked: Asked, draft: Draft) => Outcome | Promise<Outcome>;
}

type MakePart = <Draft = undefined>(described: GlossaryOperation<Draft>) => ApiPart;

function partsOf(api: FacadeApi, host: PluginHost): MakePart {
  let changes: GlossaryChanges | undefined;
  return <Draft>({ judge, run, ...doc }: GlossaryOperation<Draft>) => {
    const asking = (draft: Draft, x: Exchange, services: GatewayServices): Outcome | Promise<Outcome> => {
      const id = doc.at[2].includes(ONE) ? ulidOf(x.pathParameter) : '';
      if (id === undefined) return INVALID_ID;
      changes ??= new GlossaryChanges(services.glossaries, () => services.newId());
      return run({ x, services, changes, teamId: x.need(keyOwnerSlot).teamId, id }, draft);
    };
    const op = described(doc);
    if (judge === undefined) return plainOperation(api, { ...op, run: (x, services) => asking(undefined as Draft, x, services) });
    return operation<Members, Draft>(api, host, {
      ...op,
      read: membersOf,
      order: (members, _offer, _x, services) => judge(members, services.languages()),
      charge: () => undefined,
      run: asking,
    });
  };
}

/** What versions say and do differently on the routes that both have. */
interface Version {
  /** The end of the names of its steps. */
  readonly suffix: string;
  readonly path: string;
  readonly says: Readonly<Record<'create' | 'list' | 'show' | 'delete', GlossaryDoc['says']>>;
  readonly body: GlossaryDoc['body'];
  readonly judge: (members: Members, languages: Languages) => Judged<readonly DictionaryDraft[]>;
  /** A glossary as it is answered; `undefined` for one that is invisible. */
  readonly show: (glossary: GlossaryRecord) => Readonly<Record<string, unknown>> | undefined;
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
    body: formOrJson({ name: NAME_DOC, ...DICTIONARY_DOC }, { name: GLOSSARY.name, ...GIVEN }),
    judge(members, languages) {
      const dictionary = judgeDictionary(members, languages);
      return 'problem' in dictionary ? dictionary : { valid: [dictionary.valid] };
    },
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
    body: formOrJson({ name: NAME_DOC, dictionaries: DICTIONARIES_DOC }, { name: GLOSSARY.name, dictionaries: [GIVEN] }),
    judge: judgeDictionaries,
    show: multilingual,
  },
];

const TSV = 'text/tab-separated-values; charset=UTF-8';

function ofBoth(part: MakePart, { suffix, path, says, body, judge, show }: Version): readonly ApiPart[] {
  return [
    part({
      at: [`create-glossary${suffix}`, 'POST', path],
      says: says.create,
      body,
      answer: { ...shown('Created.', WORDS, show(GLOSSARY)), status: 201 },
      problems: problemsTo('new_glossary'),
      judge: (members, languages) => judgeGlossary(members, languages, judge),
      async run({ services, teamId }, draft) {
        const glossary = await createGlossary(services, teamId, draft);
        return 'problem' in glossary ? glossary : answer(show(glossary), 201);
      },
    }),
    part({
      at: [`list-glossaries${suffix}`, 'GET', path],
      says: says.list,
      answer: shown('The glossaries in order of creation, without their entries.', WORDS, { glossaries: [show(GLOSSARY)] }),
      async run({ services, teamId }) {
        const list = await services.glossaries.list(teamId);
        return isUnavailable(list) ? STORE_UNAVAILABLE : answer({ glossaries: list.flatMap((glossary) => show(glossary) ?? []) });
      },
    }),
    part({
      at: [`show-glossary${suffix}`, 'GET', `${path}/{id}`],
      says: says.show,
      answer: shown('The glossary, without its entries.', WORDS, show(GLOSSARY)),
      async run({ services, teamId, id }) {
        const glossary = await findGlossary(services.glossaries, teamId, id);
        if ('problem' in glossary) return glossary;
        const visible = show(glossary);
        return visible === undefined ? NOT_FOUND : answer(visible);
      },
    }),
    part({
      at: [`delete-glossary${suffix}`, 'DELETE', `${path}/{id}`],
      says: says.delete,
      answer: GONE,
      async run({ services, teamId, id }) {
        const glossary = await findGlossary(services.glossaries, teamId, id);
        if ('problem' in glossary) return glossary;
        if (show(glossary) === undefined) return NOT_FOUND;
        const removed = await services.glossaries.remove(teamId, id);
        return isUnavailable(removed) ? STORE_UNAVAILABLE : removed ? DELETED : NOT_FOUND;
      },
    }),
  ];
}

const onlyV2 = (part: MakePart): readonly ApiPart[] => [
  part({
    at: ['show-entries', 'GET', '/v2/glossaries/{id}/entries'],
    says: ["Show a glossary's entries", 'All entries of a glossary with one dictionary.'],
    answer: {
      ...answered('One line for each: term, tab, translation.', string('Tab-separated values.'), ENTRIES),
      contentType: 'text/tab-separated-values',
    },
    async run({ services, teamId, id }) {
      const look = await findEntries(services.glossaries, teamId, id, ({ dictionaries: [only, other] }) =>
        only === undefined || other !== undefined ? NOT_FOUND : only,
      );
      if ('problem' in look) return look;
      const { pieces } = look.found;
      if (pieces !== undefined && isLarge(pieces)) return pacedReply(TSV, tsvPieces(pieces, false));
      return { kind: 'reply', status: 200, contentType: TSV, body: entriesTsv(look.found.entries), headers: NO_HEADERS };
    },
  }),
  part({
    at: ['language-pairs', 'GET', '/v2/glossary-language-pairs'],
    says: ['List language pairs', 'The language pairs for glossaries; none if the engine takes no glossaries.'],
    answer: shown('All pairs.', WORDS, { supported_languages: [shownPair(DICTIONARY)] }),
    run({ services }) {
      const pairs = services.engineCan.glossaries ? languagePairs(services.languages()) : [];
      return answer({ supported_languages: pairs.map(shownPair) });
    },
  }),
];

const onlyV3 = (part: MakePart): readonly ApiPart[] => [
  part({
    at: ['show-entries-v3', 'GET', '/v3/glossaries/{id}/entries'],
    says: ["Show a dictionary's entries", 'All entries of the dictionary for a language pair.'],
    query: OF_PAIR,
    answer: shown('The dictionary.', { ...WORDS, dictionaries: 'One.' }, { dictionaries: [GIVEN] }),
    problems: NO_SUCH_PAIR,
    async run({ x, services, teamId, id }) {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const choose = ({ dictionaries }: GlossaryRecord) => heldFor(dictionaries, pair.valid) ?? NO_DICTIONARY;
      const look = await findEntries(services.glossaries, teamId, id, choose);
      return 'problem' in look ? look : entriesReply(look);
    },
  }),
  part({
    at: ['change-glossary', 'PATCH', '/v3/glossaries/{id}'],
    says: [
      'Rename a glossary, add entries',
      'Changes the name of a glossary, adds entries to its dictionaries, or both. An existing term gets the new translation; a missing dictionary is created. ' +
        'Concurrent changes are all applied; a translation in progress keeps the entries with which it started.',
    ],
    body: formOrJson({ name: Type.Optional(NAME_DOC), dictionaries: DICTIONARIES_DOC }, { dictionaries: [GIVEN] }),
    answer: shown('The changed glossary.', WORDS, multilingual(GLOSSARY)),
    problems: NO_SUCH_PAIR,
    judge: judgeAdditions,
    async run({ changes, teamId, id }, draft) {
      const glossary = await changes.merge(teamId, id, draft);
      return 'problem' in glossary ? glossary : answer(multilingual(glossary));
    },
  }),
  part({
    at: ['replace-dictionary', 'PUT', '/v3/glossaries/{id}/dictionaries'],
    says: ['Replace a dictionary', 'Replaces the dictionary for a language pair, or adds it.'],
    body: formOrJson(DICTIONARY_DOC, GIVEN),
    answer: shown('The dictionary.', WORDS, shownDictionary(DICTIONARY)),
    problems: NO_SUCH_PAIR,
    judge: judgeDictionary,
    async run({ changes, teamId, id }, draft) {
      const glossary = await changes.replace(teamId, id, draft);
      return 'problem' in glossary ? glossary : answer(shownDictionary(heldFor(glossary.dictionaries, draft)!));
    },
  }),
  part({
    at: ['drop-dictionary', 'DELETE', '/v3/glossaries/{id}/dictionaries'],
    says: ['Delete a dictionary', 'Deletes the dictionary for a language pair. The glossary stays, even without dictionaries.'],
    query: OF_PAIR,
    answer: GONE,
    problems: NO_SUCH_PAIR,
    async run({ x, services, changes, teamId, id }) {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const glossary = await changes.drop(teamId, id, pair.valid, NO_DICTIONARY);
      return 'problem' in glossary ? glossary : DELETED;
    },
  }),
];

export function glossaries(api: FacadeApi, host: PluginHost): readonly ApiPart[] {
  const part = partsOf(api, host);
  return [...VERSIONS.flatMap((version) => ofBoth(part, version)), ...onlyV2(part), ...onlyV3(part)];
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

function pairOf(x: Exchange, languages: Languages): Judged<LanguagePair> {
  return judgePair(new Map(new URLSearchParams(x.head.query)), languages);
}
