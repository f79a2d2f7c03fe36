// Rows of comma-separated values (RFC 4180): quoted fields hold commas, and quotes doubled; line ends are any of three.

export interface CsvRow {
  readonly line: number;
  readonly fields: readonly string[];
}

/** What is wrong, with the line that it is in. */
export interface CsvFault {
  readonly line: number;
  readonly fault: string;
}

/** A field, and what it ends with: a comma, a line end, or nothing at the end of all. */
interface Field {
  readonly text: string;
  readonly end: string;
  readonly next: number;
}

/** Rows with more are wrong wherever they end: only so many fields of one are read. */
export const COLUMNS_MAX = 4;
/** Far more than a term may have, white space around it included: doubled quotes cost more than other characters. */
const QUOTED_MAX = 65_536;

const BREAK = /[\r\n]/;
const PLAIN = /[^,\r\n"]*/y;
const END = /,|\r\n|\n|\r|$/y;
const LINE_FEED = 0x0a;
const RETURN = 0x0d;
const QUOTE = 0x22;

/** Empty lines are no rows. Ends at the first fault, and at the first row with more than `COLUMNS_MAX` fields. */
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

/** Lines without their ends, with their numbers; empty ones are left out. */
export function* textLines(text: string): Generator<{ readonly line: number; readonly text: string }, void> {
  let line = 1;
  let at = 0;
  // Searches are remembered: most texts have only one of the two.
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

/** Where the next one is; the end where there is none. */
function next(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at;
}

/** How long the line end is that begins there; 0 for none. */
function breakAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code === RETURN) return text.charCodeAt(at + 1) === LINE_FEED ? 2 : 1;
  return code === LINE_FEED ? 1 : 0;
}

/** A field, or what is wrong with it. */
function quotedField(text: string, at: number): Field | string {
  let close = text.indexOf('"', at + 1);
  while (close !== -1 && text.charCodeAt(close + 1) === QUOTE) close = text.indexOf('"', close + 2);
  if (close === -1) return 'a quoted field has no closing quote';
  if (close - at > QUOTED_MAX) return `a quoted field is longer than ${QUOTED_MAX} characters`;
  const inside = text.slice(at + 1, close);
  if (BREAK.test(inside)) return 'a quoted field goes over the end of the line';
  const end = match(END, text, close + 1);
  if (end === undefined) return 'something follows a closing quote';
  return { text: inside.replaceAll('""', '"'), end, next: close + 1 + end.length };
}

function plainField(text: string, at: number): Field | string {
  const field = match(PLAIN, text, at) ?? '';
  const end = match(END, text, at + field.length);
  if (end === undefined) return 'a quote stands in an unquoted field';
  return { text: field, end, next: at + field.length + end.length };
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
