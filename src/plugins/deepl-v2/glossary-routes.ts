// The glossary routes. In version 2 a glossary is one list of terms for one language pair; in version 3 it has any number of dictionaries.
import { isLarge, isUnavailable, JSON_TYPE, keyOwnerSlot, NO_HEADERS, pacedReply, STORE_UNAVAILABLE } from 'lingate';
import type { EntryPieces, Exchange, GatewayServices, GlossaryRecord, LanguagePair, Languages } from 'lingate';
import type { Outcome, PluginHost, RouteDoc, Scope } from 'lingate';
import { answer } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { operation, plainOperation } from '../facades/facade-operation.ts';
import type { FacadeApi, OperationPlace } from '../facades/facade-operation.ts';
import type { Judged, Members } from '../facades/members.ts';
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
import { judgeAdditions, judgeDictionaries, judgeDictionary, judgeGlossary, judgePair } from './glossary-body.ts';
import type { DictionaryDraft } from './glossary-body.ts';
import { createGlossary, findEntries, findGlossary, GlossaryChanges, heldFor } from './glossary-change.ts';
import type { FoundDictionary } from './glossary-change.ts';
import { V2, V3 } from './glossary-docs.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';

/** What versions do differently on the routes that both have. */
interface Version {
  /** The end of the names of its steps. */
  readonly suffix: string;
  readonly path: string;
  readonly docs: Pick<typeof V2, 'create' | 'list' | 'show' | 'delete'>;
  readonly judge: (members: Members, languages: Languages) => Judged<readonly DictionaryDraft[]>;
  /** A glossary as it is answered; `undefined` for one that is invisible. */
  readonly shown: (glossary: GlossaryRecord) => Readonly<Record<string, unknown>> | undefined;
}

const VERSIONS: readonly Version[] = [
  {
    suffix: '',
    path: '/v2/glossaries',
    docs: V2,
    judge(members, languages) {
      const dictionary = judgeDictionary(members, languages);
      return 'problem' in dictionary ? dictionary : { valid: [dictionary.valid] };
    },
    shown: monolingual,
  },
  { suffix: '-v3', path: '/v3/glossaries', docs: V3, judge: judgeDictionaries, shown: multilingual },
];

/** A route with its description. */
type GlossaryRoute = readonly [method: OperationPlace['method'], path: string, doc: RouteDoc];

function describedBy([method, path, { summary, description, parameter, ...doc }]: GlossaryRoute) {
  const place: OperationPlace = { method, path, summary, description, ...(parameter && { parameter }) };
  const scope: Scope = method === 'GET' ? 'glossaries:read' : 'glossaries:write';
  return { ...doc, at: [place], parameters: [], tag: 'Glossaries', scope } as const;
}

/** For the glossary named in the path. */
type OfGlossary<Rest extends readonly unknown[]> = (teamId: string, glossaryId: string, ...rest: Rest) => Outcome | Promise<Outcome>;

function ofGlossary<Rest extends readonly unknown[]>(x: Exchange, run: OfGlossary<Rest>, ...rest: Rest): Outcome | Promise<Outcome> {
  const glossaryId = ulidOf(x.pathParameter);
  return glossaryId === undefined ? INVALID_ID : run(teamOf(x), glossaryId, ...rest);
}

const teamOf = (x: Exchange): string => x.need(keyOwnerSlot).teamId;

export function glossaries(api: FacadeApi, host: PluginHost): readonly ApiPart[] {
  let changes: GlossaryChanges | undefined;
  const changing = (services: GatewayServices): GlossaryChanges =>
    (changes ??= new GlossaryChanges(services.glossaries, () => services.newId()));

  const reading = <Draft>(
    name: string,
    route: GlossaryRoute,
    judge: (members: Members, languages: Languages) => Judged<Draft>,
    run: (draft: Draft, x: Exchange, services: GatewayServices) => Outcome | Promise<Outcome>,
  ): ApiPart =>
    operation<Members, Draft>(api, host, {
      ...describedBy(route),
      name,
      read: membersOf,
      order: (members, _offer, _x, services) => judge(members, services.languages()),
      charge: () => undefined,
      run,
    });
  const plain = (name: string, route: GlossaryRoute, run: OfGlossary<[Exchange, GatewayServices]>): ApiPart =>
    plainOperation(api, { ...describedBy(route), name, run: (x, services) => ofGlossary(x, run, x, services) });

  return [
    ...VERSIONS.flatMap(({ suffix, path, docs, judge, shown }) => [
      reading(
        `create-glossary${suffix}`,
        ['POST', path, docs.create],
        (members, languages) => judgeGlossary(members, languages, judge),
        async (draft, x, services) => {
          const glossary = await createGlossary(services, teamOf(x), draft);
          return 'problem' in glossary ? glossary : answer(shown(glossary), 201);
        },
      ),
      plainOperation(api, {
        ...describedBy(['GET', path, docs.list]),
        name: `list-glossaries${suffix}`,
        async run(x, services) {
          const list = await services.glossaries.list(teamOf(x));
          return isUnavailable(list) ? STORE_UNAVAILABLE : answer({ glossaries: list.flatMap((glossary) => shown(glossary) ?? []) });
        },
      }),
      plain(`show-glossary${suffix}`, ['GET', `${path}/{id}`, docs.show], async (teamId, id, _x, services) => {
        const glossary = await findGlossary(services.glossaries, teamId, id);
        if ('problem' in glossary) return glossary;
        const visible = shown(glossary);
        return visible === undefined ? NOT_FOUND : answer(visible);
      }),
      plain(`delete-glossary${suffix}`, ['DELETE', `${path}/{id}`, docs.delete], async (teamId, id, _x, services) => {
        if (shown === monolingual) {
          const glossary = await findGlossary(services.glossaries, teamId, id);
          if ('problem' in glossary) return glossary;
          if (shown(glossary) === undefined) return NOT_FOUND;
        }
        const removed = await services.glossaries.remove(teamId, id);
        return isUnavailable(removed) ? STORE_UNAVAILABLE : removed ? DELETED : NOT_FOUND;
      }),
    ]),
    plain('show-entries', ['GET', '/v2/glossaries/{id}/entries', V2.entries], async (teamId, id, _x, services) => {
      const look = await findEntries(services.glossaries, teamId, id, ({ dictionaries: [only, other] }) =>
        only === undefined || other !== undefined ? NOT_FOUND : only,
      );
      if ('problem' in look) return look;
      const { pieces } = look.found;
      if (pieces !== undefined && isLarge(pieces)) return pacedReply(TSV, tsvPieces(pieces, false));
      return { kind: 'reply', status: 200, contentType: TSV, body: entriesTsv(look.found.entries), headers: NO_HEADERS };
    }),
    plainOperation(api, {
      ...describedBy(['GET', '/v2/glossary-language-pairs', V2.pairs]),
      name: 'language-pairs',
      // None if the engine takes no glossaries.
      run(_x, services) {
        const pairs = services.engineCan.glossaries ? languagePairs(services.languages()) : [];
        return answer({ supported_languages: pairs.map(shownPair) });
      },
    }),
    plain('show-entries-v3', ['GET', '/v3/glossaries/{id}/entries', V3.entries], async (teamId, id, x, services) => {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const look = await findEntries(
        services.glossaries,
        teamId,
        id,
        ({ dictionaries }) => heldFor(dictionaries, pair.valid) ?? NO_DICTIONARY,
      );
      return 'problem' in look ? look : entriesReply(look);
    }),
    reading('change-glossary', ['PATCH', '/v3/glossaries/{id}', V3.change], judgeAdditions, (draft, x, services) =>
      ofGlossary(x, async (teamId, id) => {
        const glossary = await changing(services).merge(teamId, id, draft);
        return 'problem' in glossary ? glossary : answer(multilingual(glossary));
      }),
    ),
    reading('replace-dictionary', ['PUT', '/v3/glossaries/{id}/dictionaries', V3.replace], judgeDictionary, (draft, x, services) =>
      ofGlossary(x, async (teamId, id) => {
        const glossary = await changing(services).replace(teamId, id, draft);
        return 'problem' in glossary ? glossary : answer(shownDictionary(heldFor(glossary.dictionaries, draft)!));
      }),
    ),
    plain('drop-dictionary', ['DELETE', '/v3/glossaries/{id}/dictionaries', V3.drop], async (teamId, id, x, services) => {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const glossary = await changing(services).drop(teamId, id, pair.valid, NO_DICTIONARY);
      return 'problem' in glossary ? glossary : DELETED;
    }),
  ];
}

const TSV = 'text/tab-separated-values; charset=UTF-8';

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

function pairOf(x: Exchange, languages: Languages): Judged<LanguagePair> {
  return judgePair(new Map(new URLSearchParams(x.head.query)), languages);
}
