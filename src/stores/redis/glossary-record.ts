// The encoding of a glossary in Redis: its record, and what it holds in the form that an admission compares.
import type { DictionaryRecord, GlossaryRecord, NewDictionary } from '../../ports/glossary-store.ts';

type DictionaryList = readonly (DictionaryRecord | NewDictionary)[];

/** The format of versions with one dictionary per glossary; still used for a single dictionary that has the glossary's id. */
type Single = Pick<DictionaryRecord, 'sourceLang' | 'targetLang' | 'entryCount'>;
type Several = Readonly<Record<'dictionaries', readonly (readonly [id: string, source: string, target: string, entries: number])[]>>;

/**
 * Its value in `:pairs`: `<source>|<target>:<dictionary>` of each dictionary, separated by spaces. `:<dictionary>` is omitted
 * for a dictionary that has the glossary's id.
 */
export function heldBy(glossaryId: string, dictionaries: DictionaryList): string {
  return dictionaries
    .map(({ dictionaryId, sourceLang, targetLang }) => {
      const pair = languagePair(sourceLang, targetLang);
      return dictionaryId === glossaryId ? pair : `${pair}:${dictionaryId}`;
    })
    .join(' ');
}

export function languagePair(sourceLang: string, targetLang: string): string {
  return `${sourceLang}|${targetLang}`;
}

/** The JSON part of the record. */
export function recordJson(glossaryId: string, name: string, dictionaries: DictionaryList): string {
  const [first, second] = dictionaries;
  if (first !== undefined && second === undefined && first.dictionaryId === glossaryId) {
    const { sourceLang, targetLang } = first;
    return JSON.stringify({ name, sourceLang, targetLang, entryCount: countOf(first) });
  }
  const rows = dictionaries.map((one) => [one.dictionaryId, one.sourceLang, one.targetLang, countOf(one)]);
  return JSON.stringify({ name, dictionaries: rows });
}

function countOf(dictionary: DictionaryRecord | NewDictionary): number {
  if (!('entries' in dictionary)) return dictionary.entryCount;
  return dictionary.written?.entryCount ?? Object.keys(dictionary.entries).length;
}

/** Reads `<order> <created> [<revision> ]<JSON>`. */
export function readGlossaryRecord(glossaryId: string, text: string): { readonly order: number; readonly glossary: GlossaryRecord } {
  const [, order, createdAtMs, revision = '1', json = ''] = /^(\d+) (\d+) (?:(\d+) )?(.*)$/s.exec(text) ?? [];
  const { name, ...rest } = JSON.parse(json) as { readonly name: string } & (Single | Several);
  const dictionaries =
    'dictionaries' in rest
      ? rest.dictionaries.map(([dictionaryId, sourceLang, targetLang, entryCount]) => ({
          dictionaryId,
          sourceLang,
          targetLang,
          entryCount,
        }))
      : [{ dictionaryId: glossaryId, ...rest }];
  const glossary = { glossaryId, name, revision: Number(revision), dictionaries, createdAtMs: Number(createdAtMs) };
  return { order: Number(order), glossary };
}
