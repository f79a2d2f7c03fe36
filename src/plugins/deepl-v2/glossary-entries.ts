// Parses a glossary's entries from tab-separated or comma-separated values, and writes them tab-separated.
import { readPiece, refuse } from 'lingate';
import type { EntryPieces, GlossaryEntries, Refusal } from 'lingate';
import type { Judged } from '../facades/members.ts';

export const ENTRIES_MAX = 10_000;
const TERM_BYTES_MAX = 1024;

export type EntriesFormat = 'tsv' | 'csv';

/** Whether the language columns of a row match the dictionary. */
type FitsLanguages = (source: string, target: string) => boolean;

/** Engines take terms line by line. */
const LINE_BREAK_OR_CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
const BYTE_ORDER_MARK = /^\u{feff}/u;

/** At least one entry and at most 10,000. White space around terms is removed; a fault names its line and quotes nothing. */
export function parseEntries(text: string, format: EntriesFormat, fits: FitsLanguages): Judged<GlossaryEntries> {
  if (!text.isWellFormed()) return no('have half of a surrogate pair');
  const valid = new Map<string, string>();
  const plain = text.replace(BYTE_ORDER_MARK, '');
  for (const row of format === 'csv' ? csvRows(plain) : tsvRows(plain)) {
    const fault = 'fault' in row ? row.fault : addRow(row, format, fits, valid);
    if (fault !== undefined) return no(`line ${row.line}: ${fault}`);
    if (valid.size > ENTRIES_MAX) return no(`there may be at most ${ENTRIES_MAX}`);
  }
  return valid.size === 0 ? no('there must be at least one') : { valid: Object.fromEntries(valid) };
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

function addRow({ fields }: CsvRow, format: EntriesFormat, fits: FitsLanguages, valid: Map<string, string>): string | undefined {
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

function no(fault: string): Refusal {
  return refuse('validation_error', `'entries': ${fault}.`);
}

interface CsvRow {
  readonly line: number;
  readonly fields: readonly string[];
}

/** A fault, with its line. */
interface CsvFault {
  readonly line: number;
  readonly fault: string;
}

/** A field, and what follows it: a comma, a line end, or nothing at the end of the text. */
interface Field {
  readonly text: string;
  readonly end: string;
  readonly next: number;
}

/** Rows with more are faulty anyway, so only this many of their fields are read. */
const COLUMNS_MAX = 4;
/** Far more than a term may have, including white space: doubled quotes cost more than other characters. */
const QUOTED_MAX = 65_536;

const BREAK = /[\r\n]/;
const PLAIN = /[^,\r\n"]*/y;
const END = /,|\r\n|\n|\r|$/y;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;

/**
 * Rows of comma-separated values (RFC 4180): quoted fields with commas and doubled quotes; all three kinds of line ends. Skips empty
 * lines. Ends at the first fault, and at the first row with more than `COLUMNS_MAX` fields.
 */
function* csvRows(text: string): Generator<CsvRow | CsvFault, void> {
  let at = 0;
  let line = 1;
  let fields: string[] = [];
  while (at < text.length || fields.length > 0) {
    const empty = fields.length === 0 ? breakAt(text, at) : 0;
    if (empty > 0) {
      at += empty;
      line++;
      continue;
    }
    const field = text.charCodeAt(at) === QUOTE ? quotedField(text, at) : plainField(text, at);
    if (typeof field === 'string') {
      yield { line, fault: field };
      return;
    }
    fields.push(field.text);
    at = field.next;
    if (fields.length > COLUMNS_MAX) {
      yield { line, fields };
      return;
    }
    if (field.end === ',') continue;
    yield { line, fields };
    fields = [];
    line++;
  }
}

/** Lines without their ends, with their numbers; without empty ones. */
function* textLines(text: string): Generator<{ readonly line: number; readonly text: string }, void> {
  let line = 1;
  let at = 0;
  // The results are cached: most texts have only one of the two.
  let feed = next(text, '\n', 0);
  let carriage = next(text, '\r', 0);
  while (at < text.length) {
    if (breakAt(text, at) === 0) {
      if (feed < at) feed = next(text, '\n', at);
      if (carriage < at) carriage = next(text, '\r', at);
      const end = Math.min(feed, carriage);
      yield { line, text: text.slice(at, end) };
      at = end;
    }
    at += breakAt(text, at);
    line++;
  }
}

/** The position of the next one; the end of the text if there is none. */
function next(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at;
}

/** The length of the line end at this position; 0 if there is none. */
function breakAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === RETURN) return text.charCodeAt(at + 1) === LINE_FEED ? 2 : 1;
  return code === LINE_FEED ? 1 : 0;
}

/** A field, or its fault. */
function quotedField(text: string, at: number): Field | string {
  let close = text.indexOf('"', at + 1);
  while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  if (close === -1) return 'a quoted field has no closing quote';
  if (close - at > QUOTED_MAX) return `a quoted field is longer than ${QUOTED_MAX} characters`;
  const inside = text.slice(at + 1, close);
  if (BREAK.test(inside)) return 'a quoted field contains a line break';
  const end = match(END, text, close + 1);
  if (end === undefined) return 'there is something after a closing quote';
  return { text: inside.replaceAll('""', '"'), end, next: close + 1 + end.length };
}

function plainField(text: string, at: number): Field | string {
  const field = match(PLAIN, text, at) ?? '';
  const end = match(END, text, at + field.length);
  if (end === undefined) return 'there is a quote in an unquoted field';
  return { text: field, end, next: at + field.length + end.length };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
