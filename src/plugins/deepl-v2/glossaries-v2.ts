// The glossary routes of version 2: a glossary is one list of terms for one language pair; others are invisible here.
import { isLarge, isUnavailable, NO_HEADERS, pacedReply, STORE_UNAVAILABLE } from 'lingate';
import type { BodyStep, DictionaryRecord, GatewayServices, GlossaryRecord, Languages, PluginHost, Refusal, Slot } from 'lingate';
import { answer, teamEndpoint } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import type { Judged, Members } from '../facades/members.ts';
import { DELETED, languagePairs, monolingual, NOT_FOUND, shownPair } from './glossary-answer.ts';
import { judgeDictionary, judgeName } from './glossary-body.ts';
import type { NamedDictionaries } from './glossary-body.ts';
import { createGlossary } from './glossary-change.ts';
import { V2 as docs } from './glossary-docs.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';
import { findEntries, findGlossary, glossaryEndpoint, glossaryRoute, readDraft } from './glossary-steps.ts';

const TSV = 'text/tab-separated-values; charset=UTF-8';

export function glossariesV2(host: PluginHost): ApiPart {
  const slot = host.reserveSlot<NamedDictionaries>('glossary of one dictionary');
  return {
    routes: [
      glossaryRoute('POST', '/v2/glossaries', ['deepl-read-glossary', 'deepl-create-glossary'], docs.create),
      glossaryRoute('GET', '/v2/glossaries', ['deepl-list-glossaries'], docs.list),
      glossaryRoute('GET', '/v2/glossaries/{id}', ['deepl-show-glossary'], docs.show),
      glossaryRoute('DELETE', '/v2/glossaries/{id}', ['deepl-delete-glossary'], docs.delete),
      glossaryRoute('GET', '/v2/glossaries/{id}/entries', ['deepl-show-entries'], docs.entries),
      glossaryRoute('GET', '/v2/glossary-language-pairs', ['deepl-language-pairs'], docs.pairs),
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

/** No pairs if the engine takes no glossaries. */
function supported(services: GatewayServices): ReturnType<typeof languagePairs> {
  return services.engineCan.glossaries ? languagePairs(services.languages()) : [];
}
