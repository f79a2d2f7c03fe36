// The glossary routes of version 2: a glossary is one list of terms for one pair of languages; any other is not seen here.
import { isLarge, isUnavailable, NO_HEADERS, pacedReply, STORE_UNAVAILABLE } from 'lingate';
import type { BodyStep, DictionaryRecord, GatewayServices, GlossaryRecord, Languages, Refusal, Slot } from 'lingate';
import type { Judged, Members } from '../facades/members.ts';
import { answer, DELETED, languagePairs, monolingual, NOT_FOUND, shownPair } from './glossary-answer.ts';
import { judgeDictionary, judgeName } from './glossary-body.ts';
import type { NamedDictionaries } from './glossary-body.ts';
import { createGlossary } from './glossary-change.ts';
import * as docs from './glossary-docs-v2.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';
import { findEntries, findGlossary, glossaryEndpoint, glossaryRoute, readDraft, teamEndpoint } from './glossary-steps.ts';
import type { ApiPart, PartSetup } from '../facades/api-part.ts';
import type { DeepLOptions } from './deepl-options.ts';

const TSV = 'text/tab-separated-values; charset=UTF-8';

export function glossariesV2({ host }: PartSetup<DeepLOptions>): ApiPart {
  const slot = host.reserveSlot<NamedDictionaries>('glossary of one dictionary');
  return {
    routes: [
      glossaryRoute('POST', '/v2/glossaries', ['deepl-read-glossary', 'deepl-create-glossary'], docs.CREATE),
      glossaryRoute('GET', '/v2/glossaries', ['deepl-list-glossaries'], docs.LIST),
      glossaryRoute('GET', '/v2/glossaries/{id}', ['deepl-show-glossary'], docs.SHOW),
      glossaryRoute('DELETE', '/v2/glossaries/{id}', ['deepl-delete-glossary'], docs.DELETE),
      glossaryRoute('GET', '/v2/glossaries/{id}/entries', ['deepl-show-entries'], docs.ENTRIES),
      glossaryRoute('GET', '/v2/glossary-language-pairs', ['deepl-language-pairs'], docs.PAIRS),
    ],
    steps: (services) => [
      readDraft('deepl-read-glossary', services, slot, (members) => judgeGlossary(members, services.languages())),
      createStep(services, slot),
      ...readingSteps(services),
      deleteStep(services),
      teamEndpoint('deepl-language-pairs', () => answer({ supported_languages: supported(services).map(shownPair) })),
    ],
  };
}

function judgeGlossary(members: Members, languages: Languages): Judged<NamedDictionaries> {
  const name = judgeName(members);
  if ('problem' in name) return name;
  const dictionary = judgeDictionary(members, languages);
  return 'problem' in dictionary ? dictionary : { sound: { name: name.sound, dictionaries: [dictionary.sound] } };
}

function createStep(services: GatewayServices, slot: Slot<NamedDictionaries>): BodyStep {
  return teamEndpoint('deepl-create-glossary', async (x, teamId) => {
    const created = await createGlossary(services, teamId, x.need(slot));
    return 'problem' in created ? created : answer(monolingual(created), 201);
  });
}

function readingSteps({ glossaries }: GatewayServices): readonly BodyStep[] {
  return [
    teamEndpoint('deepl-list-glossaries', async (_x, teamId) => {
      const list = await glossaries.list(teamId);
      if (isUnavailable(list)) return STORE_UNAVAILABLE;
      return answer({ glossaries: list.flatMap((glossary) => monolingual(glossary) ?? []) });
    }),
    glossaryEndpoint('deepl-show-glossary', async (teamId, id) => {
      const glossary = await findGlossary(glossaries, teamId, id);
      if ('problem' in glossary) return glossary;
      const shown = monolingual(glossary);
      return shown === undefined ? NOT_FOUND : answer(shown);
    }),
    glossaryEndpoint('deepl-show-entries', async (teamId, id) => {
      const look = await findEntries(glossaries, teamId, id, onlyDictionary);
      if ('problem' in look) return look;
      const { pieces } = look.found;
      if (pieces !== undefined && isLarge(pieces)) return pacedReply(TSV, tsvPieces(pieces, false));
      return { kind: 'reply', status: 200, contentType: TSV, body: entriesTsv(look.found.entries), headers: NO_HEADERS };
    }),
  ];
}

function deleteStep({ glossaries }: GatewayServices): BodyStep {
  return glossaryEndpoint('deepl-delete-glossary', async (teamId, id) => {
    const glossary = await findGlossary(glossaries, teamId, id);
    if ('problem' in glossary) return glossary;
    if (glossary.dictionaries.length !== 1) return NOT_FOUND;
    const removed = await glossaries.remove(teamId, id);
    if (isUnavailable(removed)) return STORE_UNAVAILABLE;
    return removed ? DELETED : NOT_FOUND;
  });
}

function onlyDictionary({ dictionaries }: GlossaryRecord): DictionaryRecord | Refusal {
  const [dictionary, other] = dictionaries;
  return dictionary === undefined || other !== undefined ? NOT_FOUND : dictionary;
}

/** No pairs where the engine takes no glossaries. */
function supported(services: GatewayServices): ReturnType<typeof languagePairs> {
  return services.engineCan.glossaries ? languagePairs(services.languages()) : [];
}
