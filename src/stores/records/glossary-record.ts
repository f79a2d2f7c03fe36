// Glossaries as records: a record each, its language pairs as admissions read them, and a team's totals.
import type { DictionaryRecord, GlossaryRecord } from '../../ports/glossary-store.ts';
import type { RecordName, StoredRecord } from '../../ports/record-space.ts';
import type { TeamTable } from './record-tables.ts';

export interface GlossaryContents extends Omit<GlossaryRecord, 'dictionaries'> {
  readonly dictionaries: readonly DictionaryContents[];
}

export interface DictionaryContents extends DictionaryRecord {
  /** UTF-8 length of all terms and translations. */
  readonly bytes: number;
}

/** A glossary with the bytes of its dictionaries, and its place among the team's glossaries. */
export interface KeptGlossary extends GlossaryContents {
  /** Increases with each glossary that a team creates. */
  readonly order: number;
}

/** Sums over a team's glossaries. */
export interface GlossaryTotals {
  readonly count: number;
  /** UTF-8 bytes of all terms and translations. */
  readonly bytes: number;
  /** The highest `order` so far. */
  readonly order: number;
}

const NONE: GlossaryTotals = { count: 0, bytes: 0, order: 0 };
type DictionaryRow = readonly [id: string, sourceLang: string, targetLang: string, entryCount: number, bytes: number];

export function glossaryName(id: string): RecordName {
  return { table: 'glossaries', id };
}

export const TOTALS: RecordName = { table: 'totals', id: 'glossaries' };

/** A glossary's two records. */
export function glossaryRecords({ glossaryId, dictionaries, ...glossary }: KeptGlossary): readonly StoredRecord[] {
  const rows = dictionaries.map((one): DictionaryRow => [one.dictionaryId, one.sourceLang, one.targetLang, one.entryCount, one.bytes]);
  return [
    { ...glossaryName(glossaryId), value: JSON.stringify({ ...glossary, dictionaries: rows }) },
    { table: 'pairs', id: glossaryId, value: pairsText(dictionaries) },
  ];
}

export function readGlossary(glossaryId: string, text: string): KeptGlossary {
  const { dictionaries, ...glossary } = JSON.parse(text) as Omit<KeptGlossary, 'dictionaries'> & {
    readonly dictionaries: readonly DictionaryRow[];
  };
  const held = dictionaries.map(([dictionaryId, sourceLang, targetLang, entryCount, bytes]): DictionaryContents => ({
    dictionaryId,
    sourceLang,
    targetLang,
    entryCount,
    bytes,
  }));
  return { ...glossary, glossaryId, dictionaries: held };
}

/** Without glossaries there is nothing to add up. */
export function totalsChange(totals: GlossaryTotals): { readonly put: readonly StoredRecord[]; readonly remove: readonly RecordName[] } {
  return totals.count === 0 ? { put: [], remove: [TOTALS] } : { put: [{ ...TOTALS, value: JSON.stringify(totals) }], remove: [] };
}

export function readTotals(text: string | undefined): GlossaryTotals {
  return text === undefined ? NONE : (JSON.parse(text) as GlossaryTotals);
}

/** Without what is kept beside it. */
export function shownGlossary({ order: _order, dictionaries, ...glossary }: KeptGlossary): GlossaryRecord {
  return { ...glossary, dictionaries: dictionaries.map(({ bytes: _bytes, ...dictionary }) => dictionary) };
}

function languagePair(sourceLang: string, targetLang: string): string {
  return `${sourceLang}|${targetLang}`;
}

/** `<source>|<target>:<dictionary>` of each dictionary, separated by spaces. */
function pairsText(dictionaries: GlossaryRecord['dictionaries']): string {
  return dictionaries.map((one) => `${languagePair(one.sourceLang, one.targetLang)}:${one.dictionaryId}`).join(' ');
}

/** Of a glossary's record in the table `pairs`, for admissions. */
export function readPairs(text: string): { readonly sourceLang: string; readonly targetLang: string; readonly dictionaryId: string }[] {
  return [...text.matchAll(/([^| ]+)\|([^: ]+):([^ ]+)/g)].map(([, sourceLang, targetLang, dictionaryId]) => ({
    sourceLang: sourceLang!,
    targetLang: targetLang!,
    dictionaryId: dictionaryId!,
  }));
}

/** Those of a team in order of creation, by its tables; what contradicts itself is passed to `found`. */
export function readGlossaryTables(
  table: (name: TeamTable) => ReadonlyMap<string, string>,
  found: (what: string, detail: string) => void,
): { readonly glossaries: readonly GlossaryContents[]; readonly glossaryBytes: number } {
  const [glossaries, pairs] = [table('glossaries'), table('pairs')];
  const kept = [...glossaries].map(([id, text]) => readGlossary(id, text)).toSorted((one, other) => one.order - other.order);
  for (const { glossaryId, dictionaries } of kept) {
    if (pairs.get(glossaryId) !== pairsText(dictionaries)) {
      found('glossary', `glossary ${glossaryId} has pairs that differ from its dictionaries`);
    }
  }
  for (const id of pairs.keys()) if (!glossaries.has(id)) found('glossary', `glossary ${id} has pairs but no record`);
  const { count, bytes, order } = readTotals(table('totals').get(TOTALS.id));
  if (count !== kept.length) found('glossary', `it is recorded with ${count} glossaries but has ${kept.length}`);
  if (order < (kept.at(-1)?.order ?? 0)) found('glossary', 'its next glossary would not be the last in order');
  return { glossaries: kept.map(({ order: _order, ...glossary }) => glossary), glossaryBytes: bytes };
}
