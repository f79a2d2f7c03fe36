// The steps of the glossary routes of both versions: parsing the body, endpoints for one glossary, and their lookups.
import { isUnavailable, STORE_UNAVAILABLE } from 'lingate';
import type {
  BodyStep,
  DictionaryRecord,
  Exchange,
  FoundEntries,
  GatewayServices,
  GlossaryRecord,
  GlossaryStore,
  Outcome,
  PluginRoute,
  Refusal,
  RouteDoc,
  Slot,
} from 'lingate';
import { teamEndpoint } from '../facades/api.ts';
import type { Judged, Members } from '../facades/members.ts';
import { AUTHENTICATED, readBody } from './deepl-request.ts';
import { CHANGING, INVALID_ID, NOT_FOUND, ulidOf } from './glossary-answer.ts';

/** A route's own parts: a step that reads the body, if there is one, and its endpoint. */
type OwnSteps = readonly [endpoint: string] | readonly [read: string, endpoint: string];

export function glossaryRoute(method: string, path: string, own: OwnSteps, doc: RouteDoc): PluginRoute {
  const [first, second] = own;
  const around = second === undefined ? ['admit', first] : [first, 'admit', second];
  return { method, path, takesBody: second !== undefined, steps: [...AUTHENTICATED, ...around], doc };
}

/** Stores the result of `judge` in the slot. */
export function readDraft<T>(name: string, services: GatewayServices, slot: Slot<T>, judge: (members: Members) => Judged<T>): BodyStep {
  return readBody(name, services, (x, members) => {
    const judged = judge(members);
    if ('sound' in judged) x.set(slot, judged.sound);
    return 'sound' in judged ? undefined : judged;
  });
}

/** For the glossary named in the path. */
export function glossaryEndpoint(
  name: string,
  run: (teamId: string, glossaryId: string, x: Exchange) => Outcome | Promise<Outcome>,
): BodyStep {
  return teamEndpoint(name, (x, teamId) => {
    const glossaryId = ulidOf(x.pathParameter);
    return glossaryId === undefined ? INVALID_ID : run(teamId, glossaryId, x);
  });
}

/** After this many reads, during each of which the dictionary was replaced, it gives up. */
const LOOKS_MAX = 10;

export interface FoundDictionary {
  readonly dictionary: DictionaryRecord;
  readonly found: FoundEntries;
}

export async function findGlossary(glossaries: GlossaryStore, teamId: string, glossaryId: string): Promise<GlossaryRecord | Refusal> {
  const found = await glossaries.find(teamId, glossaryId);
  if (isUnavailable(found)) return STORE_UNAVAILABLE;
  return found ?? NOT_FOUND;
}

/** `choose` returns the dictionary, or a refusal. */
export async function findEntries(
  glossaries: GlossaryStore,
  teamId: string,
  glossaryId: string,
  choose: (glossary: GlossaryRecord) => DictionaryRecord | Refusal,
): Promise<FoundDictionary | Refusal> {
  for (let look = 0; look < LOOKS_MAX; look++) {
    const glossary = await findGlossary(glossaries, teamId, glossaryId);
    if ('problem' in glossary) return glossary;
    const dictionary = choose(glossary);
    if ('problem' in dictionary) return dictionary;
    const found = await glossaries.entries(teamId, dictionary.dictionaryId);
    if (isUnavailable(found)) return STORE_UNAVAILABLE;
    // Otherwise another one has replaced it since it was found.
    if (found !== undefined) return { dictionary, found };
  }
  return CHANGING;
}
