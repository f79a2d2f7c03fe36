// A glossary of one dictionary, which has the glossary's own id: what POST /v1/glossaries makes.
import type { GlossaryEntries, NewGlossary } from '../../ports/glossary-store.ts';

export interface SingleGlossary {
  readonly glossaryId: string;
  readonly teamId: string;
  readonly name: string;
  readonly sourceLang: string;
  readonly targetLang: string;
  readonly entries: GlossaryEntries;
}

export function singleGlossary({ glossaryId, teamId, name, ...dictionary }: SingleGlossary): NewGlossary {
  return { glossaryId, teamId, name, dictionaries: [{ dictionaryId: glossaryId, ...dictionary }] };
}
