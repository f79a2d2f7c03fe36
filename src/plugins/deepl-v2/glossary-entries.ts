// Parses a glossary's entries from TSV or CSV, and writes them as TSV.
import { readPiece, refuse } from 'lingate';
import type { EntryPieces, GlossaryEntries, Refusal } from 'lingate';
import type { Judged } from '../facades/parameters.ts';

export const ENTRIES_MAX = 10_000;
const TERM_BYTES_MAX = 1024;

export type EntriesFormat = 'tsv' | 'csv';

/** Whether the language columns of a row match the dictionary. */
type FitsLanguages = (source: string, target: string) => boolean;

/** Engines take terms line by line. */
const LINE_BREAK_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const BYTE_ORDER_MARK = /^\u{feff}/u;

/** Line ends are of three kinds; empty lines are skipped. */
const LINE = /[^\r\n]+/g;
const LINE_END = /\r\n|\n|\r/g;
/** Rows with more are faulty anyway, so only this many of their fields are read. */
const COLUMNS_MAX = 4;
/** Far more than a term has, with white space: doubled quotes cost more than others. */
const QUOTED_MAX = 65_536;
const NOT_CLOSED = 'a quoted field has no closing quote';

/** 1 to 10,000 entries, trimmed; a fault names its line and quotes nothing. */
export function parseEntries(text: string, format: EntriesFormat, fits: FitsLanguages): Judged<GlossaryEntries> {
  if (!text.isWellFormed()) return no('have half of a surrogate pair');
  const valid = new Map<string, string>();
  const plain = text.replace(BYTE_ORDER_MARK, '');
  for (const { 0: row, index } of plain.matchAll(LINE)) {
    const fields = format === 'csv' ? csvFields(row) : row.split('\t', COLUMNS_MAX + 1);
    const found = typeof fields === 'string' ? fields : addRow(fields, format, fits, valid);
    if (found !== undefined) {
      const isClosedLater = found === NOT_CLOSED && plain.includes('"', index + row.length);
      const line = 1 + (plain.slice(0, index).match(LINE_END)?.length ?? 0);
      return no(`line ${line}: ${isClosedLater ? 'a quoted field contains a line break' : found}`);
    }
    if (valid.size > ENTRIES_MAX) return no(`there may be at most ${ENTRIES_MAX}`);
  }
  return valid.size === 0 ? NO_ENTRIES : Object.fromEntries(valid);
}

/** The fault of a row; `undefined` if its entry was added. */
function addRow(fields: readonly string[], format: EntriesFormat, fits: FitsLanguages, valid: Map<string, string>): string | undefined {
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
  if (valid.has(term)) return 'its term occurs twice';
  valid.set(term, translation);
  return undefined;
}

/** As in RFC 4180, quoted with commas and doubled quotes or not; or the row's fault. */
function csvFields(row: string): readonly string[] | string {
  const fields: string[] = [];
  for (let at = 0; at <= row.length && fields.length <= COLUMNS_MAX; at++) {
    if (row[at] === '"') {
      let close = row.indexOf('"', at + 1);
      while (close !== -1 && row[close + 1] === '"') close = row.indexOf('"', close + 2);
      if (close === -1) return NOT_CLOSED;
      if (close - at > QUOTED_MAX) return `a quoted field is longer than ${QUOTED_MAX} characters`;
      if (close + 1 < row.length && row[close + 1] !== ',') return 'there is something after a closing quote';
      fields.push(row.slice(at + 1, close).replaceAll('""', '"'));
      at = close + 1;
    } else {
      const comma = row.indexOf(',', at);
      const text = row.slice(at, comma === -1 ? undefined : comma);
      if (text.includes('"')) return 'there is a quote in an unquoted field';
      fields.push(text);
      at += text.length;
    }
  }
  return fields;
}

function no(fault: string): Refusal {
  return refuse('validation_error', `'entries': ${fault}.`);
}

export const NO_ENTRIES = no('there must be at least one');

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
