// The glossary endpoints: create, list, show, entries, delete. Another team's glossary looks like none at all.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { json } from '../core/outcome.ts';
import type { Outcome } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { BodyStep } from '../core/step.ts';
import { chargeSlot, refusedCharge } from '../domain/charge.ts';
import { judgeGlossaryBody } from '../domain/glossary.ts';
import type { GlossaryDraft } from '../domain/glossary.ts';
import { JSON_BODY_HEADERS, readJsonBody } from '../domain/json-body.ts';
import { keyOwnerSlot } from '../domain/slots.ts';
import type { Languages } from '../domain/languages.ts';
import { rfc3339 } from '../domain/period.ts';
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { StoreError } from '../domain/store-error.ts';
import { canonicalUlid } from '../domain/ulid.ts';
import type { GlossaryRecord, GlossaryStore } from '../ports/glossary-store.ts';

const NOT_FOUND = refuse('glossary_not_found', 'The team has no glossary of this id.');
const DELETED: Outcome = { kind: 'reply', status: 204, contentType: undefined, body: '', headers: [] };

const draftSlot = reserveSlot<GlossaryDraft>('glossary draft');

/** Judges the body ahead of the admission, which tells what is wrong with it. */
export function readGlossary(languages: () => Languages, bodyBytesMax: number): BodyStep {
  return {
    kind: 'body',
    name: 'read-glossary',
    headers: JSON_BODY_HEADERS,
    run(x) {
      const body = readJsonBody(x.head.headers, x.body, bodyBytesMax);
      x.body = 'none';
      const judged = body.kind === 'value' ? judgeGlossaryBody(body.value, languages()) : body;
      if (judged.kind === 'valid') x.set(draftSlot, judged.draft);
      else x.set(chargeSlot, refusedCharge(judged.refusal));
      return undefined;
    },
  };
}

export function createGlossary(glossaries: GlossaryStore, newId: () => string): BodyStep {
  return endpoint('create-glossary', async (x, teamId) => {
    const creation = await glossaries.create({ glossaryId: newId(), teamId, ...x.need(draftSlot) });
    // The admission knew the team a moment ago; now the store has lost it, and with it the key.
    if (creation.kind === 'team_unknown') return UNKNOWN_KEY;
    if (creation.kind === 'limit_reached') {
      const detail = `The plan allows ${creation.maxGlossaries} glossaries; delete one first.`;
      return refuse('glossary_limit_reached', detail, { max_glossaries: creation.maxGlossaries });
    }
    const { glossary } = creation;
    return json(JSON.stringify(shown(glossary)), 201, [['Location', `/v1/glossaries/${glossary.glossaryId}`]]);
  });
}

export function listGlossaries(glossaries: GlossaryStore): BodyStep {
  return endpoint('list-glossaries', async (_x, teamId) => {
    const list = await glossaries.list(teamId);
    return json(JSON.stringify({ glossaries: list.map((glossary) => shown(glossary)) }));
  });
}

export function showGlossary(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('show-glossary', async (teamId, id) => {
    const glossary = await glossaries.find(teamId, id);
    return glossary === undefined ? NOT_FOUND : json(JSON.stringify(shown(glossary)));
  });
}

export function showGlossaryEntries(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('show-glossary-entries', async (teamId, id) => {
    const entries = await glossaries.entries(teamId, id);
    return entries === undefined ? NOT_FOUND : json(JSON.stringify({ entries }));
  });
}

export function deleteGlossary(glossaries: GlossaryStore): BodyStep {
  return glossaryEndpoint('delete-glossary', async (teamId, id) => ((await glossaries.remove(teamId, id)) ? DELETED : NOT_FOUND));
}

function glossaryEndpoint(name: string, answer: (teamId: string, glossaryId: string) => Promise<Outcome>): BodyStep {
  return endpoint(name, (x, teamId) => {
    const id = canonicalUlid(x.pathParameter);
    return id === undefined ? Promise.resolve(NOT_FOUND) : answer(teamId, id);
  });
}

function endpoint(name: string, answer: (x: Exchange, teamId: string) => Promise<Outcome>): BodyStep {
  return {
    kind: 'body',
    name,
    run: async (x) => {
      try {
        return await answer(x, x.need(keyOwnerSlot).teamId);
      } catch (error) {
        if (error instanceof StoreError) return STORE_UNAVAILABLE;
        throw error;
      }
    },
  };
}

function shown(glossary: GlossaryRecord): Record<string, string | number> {
  return {
    glossary_id: glossary.glossaryId,
    name: glossary.name,
    source_lang: glossary.sourceLang,
    target_lang: glossary.targetLang,
    entry_count: glossary.entryCount,
    created_at: rfc3339(glossary.createdAtMs),
  };
}
