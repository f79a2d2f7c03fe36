// The glossary routes. In version 2 a glossary is one list of terms for one language pair; in version 3 it has any number of dictionaries.
import { isLarge, isUnavailable, JSON_TYPE, NO_HEADERS, pacedReply, STORE_UNAVAILABLE } from 'lingate';
import type { BodyStep, EntryPieces, Exchange, GatewayServices, GlossaryRecord, LanguagePair, Languages } from 'lingate';
import type { Outcome, PluginHost, PluginRoute, RouteDoc, Slot } from 'lingate';
import { answer, teamEndpoint } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { Judged, Members } from '../facades/members.ts';
import { AUTHENTICATED, readBody } from './deepl-request.ts';
import {
  DELETED,
  languagePairs,
  monolingual,
  multilingual,
  NO_DICTIONARY,
  NOT_FOUND,
  shownDictionary,
  shownPair,
} from './glossary-answer.ts';
import { judgeAdditions, judgeDictionaries, judgeDictionary, judgeGlossary, judgePair } from './glossary-body.ts';
import type { Additions, DictionaryDraft, NamedDictionaries } from './glossary-body.ts';
import { createGlossary, GlossaryChanges, heldFor } from './glossary-change.ts';
import { V2, V3 } from './glossary-docs.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';
import { findEntries, findGlossary, glossaryEndpoint } from './glossary-steps.ts';
import type { FoundDictionary } from './glossary-steps.ts';

const ROUTES: readonly PluginRoute[] = [
  glossaryRoute('POST', '/v2/glossaries', ['deepl-read-glossary', 'deepl-create-glossary'], V2.create),
  glossaryRoute('GET', '/v2/glossaries', ['deepl-list-glossaries'], V2.list),
  glossaryRoute('GET', '/v2/glossaries/{id}', ['deepl-show-glossary'], V2.show),
  glossaryRoute('DELETE', '/v2/glossaries/{id}', ['deepl-delete-glossary'], V2.delete),
  glossaryRoute('GET', '/v2/glossaries/{id}/entries', ['deepl-show-entries'], V2.entries),
  glossaryRoute('GET', '/v2/glossary-language-pairs', ['deepl-language-pairs'], V2.pairs),
  glossaryRoute('POST', '/v3/glossaries', ['deepl-read-glossary-v3', 'deepl-create-glossary-v3'], V3.create),
  glossaryRoute('GET', '/v3/glossaries', ['deepl-list-glossaries-v3'], V3.list),
  glossaryRoute('GET', '/v3/glossaries/{id}', ['deepl-show-glossary-v3'], V3.show),
  glossaryRoute('PATCH', '/v3/glossaries/{id}', ['deepl-read-change', 'deepl-change-glossary'], V3.change),
  glossaryRoute('DELETE', '/v3/glossaries/{id}', ['deepl-delete-glossary-v3'], V3.delete),
  glossaryRoute('GET', '/v3/glossaries/{id}/entries', ['deepl-show-entries-v3'], V3.entries),
  glossaryRoute('PUT', '/v3/glossaries/{id}/dictionaries', ['deepl-read-dictionary', 'deepl-replace-dictionary'], V3.replace),
  glossaryRoute('DELETE', '/v3/glossaries/{id}/dictionaries', ['deepl-drop-dictionary'], V3.drop),
];

/** `own` is a step that reads the body, if there is one, and the endpoint. */
function glossaryRoute(method: string, path: string, own: readonly [string] | readonly [string, string], doc: RouteDoc): PluginRoute {
  const [first, second] = own;
  const around = second === undefined ? ['admit', first] : [first, 'admit', second];
  const scope = method === 'GET' ? 'glossaries:read' : 'glossaries:write';
  return { method, path, takesBody: second !== undefined, scope, steps: [...AUTHENTICATED, ...around], doc };
}

/** What versions do differently on the routes that both have. */
interface Version {
  /** The end of its steps' names. */
  readonly suffix: string;
  readonly judge: (members: Members, languages: Languages) => Judged<readonly DictionaryDraft[]>;
  /** A glossary as it is answered; `undefined` for one that is invisible. */
  readonly shown: (glossary: GlossaryRecord) => Readonly<Record<string, unknown>> | undefined;
}

const VERSIONS: readonly Version[] = [
  {
    suffix: '',
    judge(members, languages) {
      const dictionary = judgeDictionary(members, languages);
      return 'problem' in dictionary ? dictionary : { sound: [dictionary.sound] };
    },
    shown: monolingual,
  },
  { suffix: '-v3', judge: judgeDictionaries, shown: multilingual },
];

export function glossaries(host: PluginHost): ApiPart {
  const created = host.reserveSlot<NamedDictionaries>('new glossary');
  const changed = host.reserveSlot<Additions>('change of a glossary');
  const replaced = host.reserveSlot<DictionaryDraft>('dictionary in place of another');
  return {
    routes: ROUTES,
    steps: (services) => [
      ...VERSIONS.flatMap((version) => sharedSteps(services, created, version)),
      ...entriesSteps(services),
      // No pairs if the engine takes no glossaries.
      teamEndpoint('deepl-language-pairs', () => {
        const pairs = services.engineCan.glossaries ? languagePairs(services.languages()) : [];
        return answer({ supported_languages: pairs.map(shownPair) });
      }),
      readDraft('deepl-read-change', services, changed, (members) => judgeAdditions(members, services.languages())),
      readDraft('deepl-read-dictionary', services, replaced, (members) => judgeDictionary(members, services.languages())),
      ...changingSteps(services, changed, replaced),
    ],
  };
}

/** Stores the result of `judge` in the slot. */
function readDraft<T>(name: string, services: GatewayServices, slot: Slot<T>, judge: (members: Members) => Judged<T>): BodyStep {
  return readBody(name, services, (x, members) => {
    const judged = judge(members);
    if ('problem' in judged) return judged;
    x.set(slot, judged.sound);
    return undefined;
  });
}

function sharedSteps(services: GatewayServices, slot: Slot<NamedDictionaries>, { suffix, judge, shown }: Version): readonly BodyStep[] {
  const { glossaries: store } = services;
  return [
    readDraft(`deepl-read-glossary${suffix}`, services, slot, (members) => judgeGlossary(members, services.languages(), judge)),
    teamEndpoint(`deepl-create-glossary${suffix}`, async (x, teamId) => {
      const glossary = await createGlossary(services, teamId, x.need(slot));
      return 'problem' in glossary ? glossary : answer(shown(glossary), 201);
    }),
    teamEndpoint(`deepl-list-glossaries${suffix}`, async (_x, teamId) => {
      const list = await store.list(teamId);
      if (isUnavailable(list)) return STORE_UNAVAILABLE;
      return answer({ glossaries: list.flatMap((glossary) => shown(glossary) ?? []) });
    }),
    glossaryEndpoint(`deepl-show-glossary${suffix}`, async (teamId, id) => {
      const glossary = await findGlossary(store, teamId, id);
      if ('problem' in glossary) return glossary;
      const visible = shown(glossary);
      return visible === undefined ? NOT_FOUND : answer(visible);
    }),
    glossaryEndpoint(`deepl-delete-glossary${suffix}`, async (teamId, id) => {
      if (shown === monolingual) {
        const glossary = await findGlossary(store, teamId, id);
        if ('problem' in glossary) return glossary;
        if (shown(glossary) === undefined) return NOT_FOUND;
      }
      const removed = await store.remove(teamId, id);
      if (isUnavailable(removed)) return STORE_UNAVAILABLE;
      return removed ? DELETED : NOT_FOUND;
    }),
  ];
}

const TSV = 'text/tab-separated-values; charset=UTF-8';

function entriesSteps(services: GatewayServices): readonly BodyStep[] {
  const { glossaries: store } = services;
  return [
    glossaryEndpoint('deepl-show-entries', async (teamId, id) => {
      const look = await findEntries(store, teamId, id, ({ dictionaries: [only, other] }) =>
        only === undefined || other !== undefined ? NOT_FOUND : only,
      );
      if ('problem' in look) return look;
      const { pieces } = look.found;
      if (pieces !== undefined && isLarge(pieces)) return pacedReply(TSV, tsvPieces(pieces, false));
      return { kind: 'reply', status: 200, contentType: TSV, body: entriesTsv(look.found.entries), headers: NO_HEADERS };
    }),
    glossaryEndpoint('deepl-show-entries-v3', async (teamId, id, x) => {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const look = await findEntries(store, teamId, id, ({ dictionaries }) => heldFor(dictionaries, pair.sound) ?? NO_DICTIONARY);
      return 'problem' in look ? look : entriesReply(look);
    }),
  ];
}

function entriesReply({ dictionary, found }: FoundDictionary): Outcome {
  const { pieces } = found;
  const shown = (entries: string) => ({ dictionaries: [{ ...shownPair(dictionary), entries, entries_format: 'tsv' }] });
  if (pieces === undefined || !isLarge(pieces)) return answer(shown(entriesTsv(found.entries)));
  const [before = '', after = ''] = JSON.stringify(shown('')).split('"entries":""');
  return pacedReply(JSON_TYPE, quotedTsv(`${before}"entries":"`, pieces, `"${after}`));
}

function* quotedTsv(before: string, pieces: EntryPieces, after: string): Generator<Uint8Array, void> {
  yield Buffer.from(before);
  yield* tsvPieces(pieces, true);
  yield Buffer.from(after);
}

function changingSteps(services: GatewayServices, changed: Slot<Additions>, replaced: Slot<DictionaryDraft>): readonly BodyStep[] {
  const changes = new GlossaryChanges(services.glossaries, () => services.newId());
  return [
    glossaryEndpoint('deepl-change-glossary', async (teamId, id, x) => {
      const glossary = await changes.merge(teamId, id, x.need(changed));
      return 'problem' in glossary ? glossary : answer(multilingual(glossary));
    }),
    glossaryEndpoint('deepl-replace-dictionary', async (teamId, id, x) => {
      const draft = x.need(replaced);
      const glossary = await changes.replace(teamId, id, draft);
      return 'problem' in glossary ? glossary : answer(shownDictionary(heldFor(glossary.dictionaries, draft)!));
    }),
    glossaryEndpoint('deepl-drop-dictionary', async (teamId, id, x) => {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const glossary = await changes.drop(teamId, id, pair.sound, NO_DICTIONARY);
      return 'problem' in glossary ? glossary : DELETED;
    }),
  ];
}

function pairOf(x: Exchange, languages: Languages): Judged<LanguagePair> {
  return judgePair(new Map(new URLSearchParams(x.head.query)), languages);
}
