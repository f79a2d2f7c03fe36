// The glossary endpoints: create, list, show, entries, delete. Another team's glossary looks as if
// it did not exist, and so does one with several dictionaries or none: here a glossary is one list
// of terms for one language pair.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json, JSON_TYPE } from '../core/outcome.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { pacedReply } from '../core/turns.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, refusedCharge, keyOwnerSlot } from '../domain/slots.ts';
import { isLarge, wholeObject, wholeObjectBytes } from '../domain/entries-text.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import { judgeGlossaryBody } from '../domain/glossary.ts';
import type { GlossaryDraft } from '../domain/glossary.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import type { Languages } from '../domain/languages.ts';
import { rfc3339 } from '../domain/period.ts';
import { glossaryRefusal, STORE_UNAVAILABLE } from '../domain/refusals.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { DictionaryRecord, FoundEntries, GlossaryRecord, GlossaryStore } from '../ports/glossary-store.ts';

const NOT_FOUND = refuse('glossary_not_found', 'The team has no glossary with this id.');
const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };

/** After so many reads, during each of which it was changed, comes `service_unavailable`. */
const LOOKS_MAX = 10;

const draftSlot = reserveSlot<GlossaryDraft>('glossary draft');

/** Checks the body before the admission; errors are answered after it. */
export function readGlossary(languages: () => Languages, bodyBytesMax: number): BodyStep {
  return {
    kind: 'body',
    name: 'read-glossary',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const body = readJsonBody(x.head.headers, x.body, bodyBytesMax);
      x.body = 'none';
      const judged = body.kind === 'value' ? judgeGlossaryBody(body.value, languages()) : body.refusal;
      if ('problem' in judged) x.set(chargeSlot, refusedCharge(judged));
      else x.set(draftSlot, judged);
      return undefined;
    },
  };
}

export function createGlossary(glossaries: GlossaryStore, newId: () => string): BodyStep {
  return endpoint('create-glossary', async (x, teamId) => {
    const { name, ...dictionary } = x.need(draftSlot);
    const glossaryId = newId();
    const creation = await glossaries.create({ glossaryId, teamId, name, dictionaries: [{ dictionaryId: glossaryId, ...dictionary }] });
    if (creation.kind !== 'created') return glossaryRefusal(creation);
    const { glossary } = creation;
    return json(JSON.stringify(shown(glossary)[0]), 201, [['Location', `/v1/glossaries/${glossary.glossaryId}`]]);
  });
}

export function listGlossaries(glossaries: GlossaryStore): BodyStep {
  return endpoint('list-glossaries', async (_x, teamId) => {
    const list = await glossaries.list(teamId);
    if (isUnavailable(list)) return STORE_UNAVAILABLE;
    return json(JSON.stringify({ glossaries: list.flatMap(shown) }));
  });
}

export function showGlossary(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('show-glossary', async (teamId, id) => {
    const glossary = await glossaries.find(teamId, id);
    if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
    const [body] = glossary === undefined ? [] : shown(glossary);
    return body === undefined ? NOT_FOUND : json(JSON.stringify(body));
  });
}

export function showGlossaryEntries(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('show-glossary-entries', (teamId, id) => shownEntries(glossaries, teamId, id));
}

export function deleteGlossary(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('delete-glossary', async (teamId, id) => {
    const glossary = await glossaries.find(teamId, id);
    if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
    if (glossary === undefined || onlyDictionary(glossary) === undefined) return NOT_FOUND;
    const removed = await glossaries.remove(teamId, id);
    if (isUnavailable(removed)) return STORE_UNAVAILABLE;
    return removed ? DELETED : NOT_FOUND;
  });
}

async function shownEntries(glossaries: GlossaryStore, teamId: string, glossaryId: string): Promise<Outcome> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const glossary = await glossaries.find(teamId, glossaryId);
    if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
    const dictionary = glossary && onlyDictionary(glossary);
    if (dictionary === undefined) return NOT_FOUND;
    const found = await glossaries.entries(teamId, dictionary.dictionaryId);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    // If not, the dictionary was replaced after the glossary was read.
    if (found !== undefined) return entriesReply(found);
  }
  return STORE_UNAVAILABLE;
}

/** A large dictionary as stored, piece by piece. */
function entriesReply(found: FoundEntries): Outcome {
  const { pieces } = found;
  if (pieces === undefined || !isLarge(pieces)) return json(JSON.stringify({ entries: found.entries }));
  return pacedReply(JSON_TYPE, member('entries', pieces), wholeObjectBytes(pieces) + '{"entries":}'.length);
}

function* member(name: string, pieces: EntryPieces): Generator<Uint8Array, void> {
  yield Buffer.from(`{"${name}":`);
  yield* wholeObject(pieces);
  yield Buffer.from('}');
}

function onlyDictionary({ dictionaries }: GlossaryRecord): DictionaryRecord | undefined {
  return dictionaries.length === 1 ? dictionaries[0] : undefined;
}

function glossaryEndpoint(name: string, answer: (teamId: string, glossaryId: string) => Promise<Outcome>): BodyStep {
  return endpoint(name, (x, teamId) => {
    const id = canonicalUlid(x.pathParameter);
    return id === undefined ? Promise.resolve(NOT_FOUND) : answer(teamId, id);
  });
}

function endpoint(name: string, answer: (x: Exchange, teamId: string) => Promise<Outcome>): BodyStep {
  return { kind: 'body', name, run: (x) => answer(x, x.need(keyOwnerSlot).teamId) };
}

/** Empty for a glossary that cannot be shown as one list of terms. */
function shown(glossary: GlossaryRecord): readonly Readonly<Record<string, string | number>>[] {
  const dictionary = onlyDictionary(glossary);
  if (dictionary === undefined) return [];
  const { sourceLang, targetLang, entryCount } = dictionary;
  return [
    {
      glossary_id: glossary.glossaryId,
      name: glossary.name,
      source_lang: sourceLang,
      target_lang: targetLang,
      entry_count: entryCount,
      created_at: rfc3339(glossary.createdAtMs),
    },
  ];
}
