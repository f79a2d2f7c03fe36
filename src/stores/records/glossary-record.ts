// Glossaries as records: a record each, its language pairs as admissions read them, and a team's totals.
import type { DictionaryRecord, GlossaryRecord } from '../../ports/glossary-store.ts';
import type { RecordName } from '../../ports/record-space.ts';
import { JsonTable } from './json-table.ts';
import type { Writes } from './json-table.ts';

export interface StoredDictionary extends DictionaryRecord {
  /** UTF-8 length of all terms and translations. */
  readonly bytes: number;
}

export interface StoredGlossary extends Omit<GlossaryRecord, 'dictionaries'> {
  readonly dictionaries: readonly StoredDictionary[];
  /** Its place among the team's glossaries: increases with each that the team creates. */
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

export const GLOSSARIES = new JsonTable<StoredGlossary>('glossaries');
/** Without glossaries there is none. */
export const GLOSSARY_TOTALS: RecordName = { table: 'totals', id: 'glossaries' };

export function readTotals(text: string | undefined): GlossaryTotals {
  return text === undefined ? { count: 0, bytes: 0, order: 0 } : (JSON.parse(text) as GlossaryTotals);
}

/** What is written with a glossary in place of what it was: its pairs, and the totals. */
export function besideGlossary(totals: GlossaryTotals, before: StoredGlossary | undefined, after: StoredGlossary | undefined): Writes {
  const count = totals.count + (after === undefined ? 0 : 1) - (before === undefined ? 0 : 1);
  const bytes = totals.bytes + bytesIn(after) - bytesIn(before);
  const sums = JSON.stringify({ count, bytes, order: Math.max(totals.order, after?.order ?? 0) } satisfies GlossaryTotals);
  const put = count === 0 ? [] : [{ ...GLOSSARY_TOTALS, value: sums }];
  const remove = count === 0 ? [GLOSSARY_TOTALS] : [];
  if (after === undefined) return { put, remove: [...remove, { table: 'pairs', id: before!.glossaryId }] };
  return { put: [...put, { table: 'pairs', id: after.glossaryId, value: pairsText(after) }], remove };
}

export function bytesIn(glossary: Pick<StoredGlossary, 'dictionaries'> | undefined): number {
  return (glossary?.dictionaries ?? []).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Without what is stored beside it. */
export function shownGlossary({ order: _order, dictionaries, ...glossary }: StoredGlossary): GlossaryRecord {
  return { ...glossary, dictionaries: dictionaries.map(({ bytes: _bytes, ...dictionary }) => dictionary) };
}

/** `<source>|<target>:<dictionary>` of each dictionary, separated by spaces. */
export function pairsText({ dictionaries }: Pick<StoredGlossary, 'dictionaries'>): string {
  return dictionaries.map((one) => `${one.sourceLang}|${one.targetLang}:${one.dictionaryId}`).join(' ');
}

/** Of a glossary's record in the table `pairs`, for admissions. */
export function readPairs(text: string): { readonly sourceLang: string; readonly targetLang: string; readonly dictionaryId: string }[] {
  return [...text.matchAll(/([^| ]+)\|([^: ]+):([^ ]+)/g)].map(([, sourceLang, targetLang, dictionaryId]) => ({
    sourceLang: sourceLang!,
    targetLang: targetLang!,
    dictionaryId: dictionaryId!,
  }));
}
