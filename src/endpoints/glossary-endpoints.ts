// The glossary endpoints: create, list, show, entries, delete. Another team's glossary looks as if
// it did not exist, and so does one with several dictionaries or none: here a glossary is one list
// of terms for one language pair.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json, JSON_TYPE } from '../core/outcome.ts';
import type { Outcome, Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { pacedReply } from '../core/turns.ts';
import type { BodyStep } from '../core/pipeline.ts';
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

interface GlossaryEndpointOptions {
  readonly glossaries: GlossaryStore;
  readonly languages: () => Languages;
  readonly bodyBytesMax: number;
  readonly newId: () => string;
}

/** The last steps of the routes, and the one that reads the body of a new glossary. */
export function glossarySteps({ glossaries, languages, bodyBytesMax, newId }: GlossaryEndpointOptions) {
  return {
    'read-glossary': readGlossary(languages, bodyBytesMax),
    ...named({
      'create-glossary': async (x, teamId) => {
        const { name, ...dictionary } = x.need(draftSlot);
        const glossaryId = newId();
        const creation = await glossaries.create({ glossaryId, teamId, name, dictionaries: [{ dictionaryId: glossaryId, ...dictionary }] });
        if (creation.kind !== 'created') return glossaryRefusal(creation);
        const { glossary } = creation;
        return json(JSON.stringify(shown(glossary as ListedGlossary)), 201, [['Location', `/v1/glossaries/${glossary.glossaryId}`]]);
      },
      'list-glossaries': async (_x, teamId) => {
        const list = await glossaries.list(teamId);
        return isUnavailable(list) ? STORE_UNAVAILABLE : json(JSON.stringify({ glossaries: list.filter(isList).map(shown) }));
      },
      'show-glossary': async (x, teamId) => {
        const found = await ownGlossary(glossaries, teamId, x.pathParameter);
        return 'problem' in found ? found : json(JSON.stringify(shown(found)));
      },
      'show-glossary-entries': (x, teamId) => shownEntries(glossaries, teamId, x.pathParameter),
      'delete-glossary': async (x, teamId) => {
        const found = await ownGlossary(glossaries, teamId, x.pathParameter);
        if ('problem' in found) return found;
        const removed = await glossaries.remove(teamId, found.glossaryId);
        if (isUnavailable(removed)) return STORE_UNAVAILABLE;
        return removed ? DELETED : NOT_FOUND;
      },
    }),
  };
}

/** Checks the body before the admission; errors are answered after it. */
function readGlossary(languages: () => Languages, bodyBytesMax: number): BodyStep {
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

async function shownEntries(glossaries: GlossaryStore, teamId: string, id: string): Promise<Outcome> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const glossary = await ownGlossary(glossaries, teamId, id);
    if ('problem' in glossary) return glossary;
    const found = await glossaries.entries(teamId, glossary.dictionaries[0].dictionaryId);
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

/** One list of terms for one language pair. */
interface ListedGlossary extends GlossaryRecord {
  readonly dictionaries: readonly [DictionaryRecord];
}

function isList(glossary: GlossaryRecord): glossary is ListedGlossary {
  return glossary.dictionaries.length === 1;
}

/** `id` may be any text. */
async function ownGlossary(glossaries: GlossaryStore, teamId: string, id: string): Promise<ListedGlossary | Refusal> {
  const glossaryId = canonicalUlid(id);
  const glossary = glossaryId === undefined ? undefined : await glossaries.find(teamId, glossaryId);
  if (isUnavailable(glossary)) return STORE_UNAVAILABLE;
  return glossary !== undefined && isList(glossary) ? glossary : NOT_FOUND;
}

type Answer = (x: Exchange, teamId: string) => Promise<Outcome>;

function named<Name extends string>(answers: Readonly<Record<Name, Answer>>): Readonly<Record<Name, BodyStep>> {
  const steps = Object.entries<Answer>(answers).map(([name, answer]): [string, BodyStep] => {
    return [name, { kind: 'body', name, run: (x) => answer(x, x.need(keyOwnerSlot).teamId) }];
  });
  return Object.fromEntries(steps) as Record<Name, BodyStep>;
}

function shown({ glossaryId, name, dictionaries: [dictionary], createdAtMs }: ListedGlossary): Readonly<Record<string, string | number>> {
  const { sourceLang, targetLang, entryCount } = dictionary;
  return {
    glossary_id: glossaryId,
    name,
    source_lang: sourceLang,
    target_lang: targetLang,
    entry_count: entryCount,
    created_at: rfc3339(createdAtMs),
  };
}
