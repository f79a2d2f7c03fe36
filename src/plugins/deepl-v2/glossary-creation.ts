// A glossary as it is created for a team, by either version of the API.
import { STORE_UNAVAILABLE, UNKNOWN_KEY } from 'lingate';
import type { GatewayServices, GlossaryRecord, Refusal } from 'lingate';
import { bytesReached, limitReached } from './glossary-answer.ts';
import type { NamedDictionaries } from './glossary-body.ts';

export async function createGlossary(
  services: GatewayServices,
  teamId: string,
  { name, dictionaries }: NamedDictionaries,
): Promise<GlossaryRecord | Refusal> {
  const glossaryId = services.newId();
  const isAlone = dictionaries.length === 1;
  const drafts = dictionaries.map((draft) => ({ dictionaryId: isAlone ? glossaryId : services.newId(), ...draft }));
  const creation = await services.glossaries.create({ glossaryId, teamId, name, dictionaries: drafts });
  switch (creation.kind) {
    case 'created':
      return creation.glossary;
    case 'limit_reached':
      return limitReached(creation.maxGlossaries);
    case 'bytes_reached':
      return bytesReached(creation);
    case 'team_unknown':
      // The admission knew the team a moment ago; now the store has lost it, and with it the key.
      return UNKNOWN_KEY;
    case 'unavailable':
      return STORE_UNAVAILABLE;
  }
}
