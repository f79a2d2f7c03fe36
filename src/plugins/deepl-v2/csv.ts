// Parses comma-separated values (RFC 4180): quoted fields with commas and doubled quotes; all three kinds of line ends.

export interface CsvRow {
  readonly line: number;
  readonly fields: readonly string[];
}

/** A fault, with its line. */
export interface CsvFault {
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
export const COLUMNS_MAX = 4;
/** Far more than a term may have, including white space: doubled quotes cost more than other characters. */
const QUOTED_MAX = 65_536;

const BREAK = /[\r\n]/;
const PLAIN = /[^,\r\n"]*/y;
const END = /,|\r\n|\n|\r|$/y;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;

/** Skips empty lines. Ends at the first fault, and at the first row with more than `COLUMNS_MAX` fields. */
export function* csvRows(text: string): Generator<CsvRow | CsvFault, void> {
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
export function* textLines(text: string): Generator<{ readonly line: number; readonly text: string }, void> {
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
