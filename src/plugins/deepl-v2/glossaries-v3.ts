// The glossary routes of version 3: a glossary has any number of dictionaries, which can be extended, replaced and deleted.
import { isLarge, isUnavailable, JSON_TYPE, pacedReply, STORE_UNAVAILABLE } from 'lingate';
import type {
  BodyStep,
  EntryPieces,
  Exchange,
  GatewayServices,
  LanguagePair,
  Languages,
  Outcome,
  PluginHost,
  Refusal,
  Slot,
} from 'lingate';
import { answer, teamEndpoint } from '../facades/api.ts';
import type { ApiPart } from '../facades/api.ts';
import { chosen } from '../facades/members.ts';
import type { Judged, Members } from '../facades/members.ts';
import { DELETED, multilingual, NO_DICTIONARY, NOT_FOUND, shownDictionary, shownPair } from './glossary-answer.ts';
import { judgeDictionaries, judgeDictionary, judgeName, judgePair } from './glossary-body.ts';
import type { DictionaryDraft, NamedDictionaries } from './glossary-body.ts';
import { createGlossary, GlossaryChanges, heldFor } from './glossary-change.ts';
import type { Additions } from './glossary-change.ts';
import { V3 as docs } from './glossary-docs.ts';
import { entriesTsv, tsvPieces } from './glossary-entries.ts';
import { findEntries, findGlossary, glossaryEndpoint, glossaryRoute, readDraft } from './glossary-steps.ts';
import type { FoundDictionary } from './glossary-steps.ts';

export function glossariesV3(host: PluginHost): ApiPart {
  const created = host.reserveSlot<NamedDictionaries>('glossary of several dictionaries');
  const changed = host.reserveSlot<Additions>('change of a glossary');
  const replaced = host.reserveSlot<DictionaryDraft>('dictionary in place of another');
  return {
    routes: [
      glossaryRoute('POST', '/v3/glossaries', ['deepl-read-glossary-v3', 'deepl-create-glossary-v3'], docs.create),
      glossaryRoute('GET', '/v3/glossaries', ['deepl-list-glossaries-v3'], docs.list),
      glossaryRoute('GET', '/v3/glossaries/{id}', ['deepl-show-glossary-v3'], docs.show),
      glossaryRoute('PATCH', '/v3/glossaries/{id}', ['deepl-read-change', 'deepl-change-glossary'], docs.change),
      glossaryRoute('DELETE', '/v3/glossaries/{id}', ['deepl-delete-glossary-v3'], docs.delete),
      glossaryRoute('GET', '/v3/glossaries/{id}/entries', ['deepl-show-entries-v3'], docs.entries),
      glossaryRoute('PUT', '/v3/glossaries/{id}/dictionaries', ['deepl-read-dictionary', 'deepl-replace-dictionary'], docs.replace),
      glossaryRoute('DELETE', '/v3/glossaries/{id}/dictionaries', ['deepl-drop-dictionary'], docs.drop),
    ],
    steps: (services) => [
      readDraft('deepl-read-glossary-v3', services, created, (members) => judgeGlossary(members, services.languages())),
      readDraft('deepl-read-change', services, changed, (members) => judgeChange(members, services.languages())),
      readDraft('deepl-read-dictionary', services, replaced, (members) => judgeDictionary(members, services.languages())),
      createStep(services, created),
      ...readingSteps(services),
      ...changingSteps(services, changed, replaced),
      deleteStep(services),
    ],
  };
}

function judgeGlossary(members: Members, languages: Languages): Judged<NamedDictionaries> {
  const name = judgeName(members);
  if ('problem' in name) return name;
  const dictionaries = judgeDictionaries(members, languages);
  return 'problem' in dictionaries ? dictionaries : { sound: { name: name.sound, dictionaries: dictionaries.sound } };
}

function judgeChange(members: Members, languages: Languages): Judged<Additions> {
  const name = chosen(members, 'name') === undefined ? undefined : judgeName(members);
  if (name !== undefined && 'problem' in name) return name;
  const dictionaries = judgeDictionaries(members, languages);
  return 'problem' in dictionaries ? dictionaries : { sound: { name: name?.sound, dictionaries: dictionaries.sound } };
}

function createStep(services: GatewayServices, slot: Slot<NamedDictionaries>): BodyStep {
  return teamEndpoint('deepl-create-glossary-v3', async (x, teamId) => {
    const created = await createGlossary(services, teamId, x.need(slot));
    return 'problem' in created ? created : answer(multilingual(created), 201);
  });
}

function readingSteps(services: GatewayServices): readonly BodyStep[] {
  const { glossaries } = services;
  return [
    teamEndpoint('deepl-list-glossaries-v3', async (_x, teamId) => {
      const list = await glossaries.list(teamId);
      return isUnavailable(list) ? STORE_UNAVAILABLE : answer({ glossaries: list.map(multilingual) });
    }),
    glossaryEndpoint('deepl-show-glossary-v3', async (teamId, id) => {
      const glossary = await findGlossary(glossaries, teamId, id);
      return 'problem' in glossary ? glossary : answer(multilingual(glossary));
    }),
    glossaryEndpoint('deepl-show-entries-v3', async (teamId, id, x) => {
      const pair = pairOf(x, services.languages());
      if ('problem' in pair) return pair;
      const look = await findEntries(glossaries, teamId, id, ({ dictionaries }) => heldFor(dictionaries, pair.sound) ?? NO_DICTIONARY);
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

function deleteStep({ glossaries }: GatewayServices): BodyStep {
  return glossaryEndpoint('deepl-delete-glossary-v3', async (teamId, id) => {
    const removed = await glossaries.remove(teamId, id);
    if (isUnavailable(removed)) return STORE_UNAVAILABLE;
    return removed ? DELETED : NOT_FOUND;
  });
}

function pairOf(x: Exchange, languages: Languages): { readonly sound: LanguagePair } | Refusal {
  return judgePair(new Map(new URLSearchParams(x.head.query)), languages);
}
