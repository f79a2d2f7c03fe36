// Parses a glossary's entries from tab-separated or comma-separated values, and writes them tab-separated.
import { readPiece, refuse } from 'lingate';
import type { EntryPieces, GlossaryEntries, Refusal } from 'lingate';
import { COLUMNS_MAX, csvRows, textLines } from './csv.ts';
import type { CsvFault, CsvRow } from './csv.ts';
import type { Judged } from '../facades/members.ts';

export const ENTRIES_MAX = 10_000;
const TERM_BYTES_MAX = 1024;

export type EntriesFormat = 'tsv' | 'csv';

/** Whether the language columns of a row match the dictionary. */
export type FitsLanguages = (source: string, target: string) => boolean;

/** Engines take terms line by line. */
const LINE_BREAK_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const BYTE_ORDER_MARK = /^\u{feff}/u;

/** At least one entry and at most 10,000. White space around terms is removed; a fault names its line and quotes nothing. */
export function parseEntries(text: string, format: EntriesFormat, fits: FitsLanguages): Judged<GlossaryEntries> {
  if (!text.isWellFormed()) return no('have half of a surrogate pair');
  const sound = new Map<string, string>();
  const plain = text.replace(BYTE_ORDER_MARK, '');
  for (const row of format === 'csv' ? csvRows(plain) : tsvRows(plain)) {
    const fault = 'fault' in row ? row.fault : addRow(row, format, fits, sound);
    if (fault !== undefined) return no(`line ${row.line}: ${fault}`);
    if (sound.size > ENTRIES_MAX) return no(`there may be at most ${ENTRIES_MAX}`);
  }
  return sound.size === 0 ? no('there must be at least one') : { sound: Object.fromEntries(sound) };
}

export function entriesTsv(entries: GlossaryEntries): string {
  return Object.entries(entries)
    .map(([term, translation]) => `${term}\t${translation}`)
    .join('\n');
}

/** The same as bytes, piece by piece; with `quoted` as in a JSON string. */
export function* tsvPieces(pieces: EntryPieces, quoted: boolean): Generator<Uint8Array, void> {
  for (const [i, piece] of pieces.entries()) {
    const text = (i === 0 ? '' : '\n') + entriesTsv(readPiece(piece));
    yield Buffer.from(quoted ? JSON.stringify(text).slice(1, -1) : text);
  }
}

/** Why a term, a translation or a name is invalid; it has been trimmed. */
export function phraseFault(phrase: string): string | undefined {
  if (phrase === '') return 'is empty';
  if (LINE_BREAK_OR_CONTROL.test(phrase)) return 'contains a line break or a control character';
  // A UTF-16 unit has at most three bytes.
  return phrase.length * 3 > TERM_BYTES_MAX && Buffer.byteLength(phrase) > TERM_BYTES_MAX
    ? `is longer than ${TERM_BYTES_MAX} bytes`
    : undefined;
}

function* tsvRows(text: string): Generator<CsvRow | CsvFault> {
  for (const { line, text: row } of textLines(text)) yield { line, fields: row.split('\t', COLUMNS_MAX + 1) };
}

function addRow({ fields }: CsvRow, format: EntriesFormat, fits: FitsLanguages, sound: Map<string, string>): string | undefined {
  const [source = '', target = '', sourceLang, targetLang] = fields;
  if (format === 'tsv' && fields.length !== 2) return 'must be a term, a tab and its translation';
  if (fields.length !== 2 && fields.length !== 4) return 'must be a term and its translation, optionally followed by both languages';
  if (sourceLang !== undefined && targetLang !== undefined && !fits(sourceLang.trim(), targetLang.trim())) {
    return 'its languages are not those of the dictionary';
  }
  const [term, translation] = [source.trim(), target.trim()];
  const fault = phraseFault(term);
  if (fault !== undefined) return `its term ${fault}`;
  const translationFault = phraseFault(translation);
  if (translationFault !== undefined) return `its translation ${translationFault}`;
  if (sound.has(term)) return 'its term occurs twice';
  sound.set(term, translation);
  return undefined;
}

function no(fault: string): Refusal {
  return refuse('validation_error', `'entries': ${fault}.`);
}
