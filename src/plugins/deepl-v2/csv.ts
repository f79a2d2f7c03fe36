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

const BREAK = /[\r\n]/;
const PLAIN = /[^,\r\n"]*/y;
const END = /,|\r\n|\n|\r|$/y;

/** Empty lines are no rows. Ends at the first fault. */
export function* csvRows(text: string): Generator<CsvRow | CsvFault, void> {
  let at = 0;
  let line = 1;
  let fields: string[] = [];
  while (at < text.length || fields.length > 0) {
    const field = text[at] === '"' ? quotedField(text, at) : plainField(text, at);
    if (typeof field === 'string') {
      yield { line, fault: field };
      return;
    }
    if (fields.length > 0 || field.end === ',' || field.next > at + field.end.length) fields.push(field.text);
    at = field.next;
    if (field.end === ',') continue;
    if (fields.length > 0) yield { line, fields };
    fields = [];
    line++;
  }
}

/** A field, or what is wrong with it. */
function quotedField(text: string, at: number): Field | string {
  let close = text.indexOf('"', at + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  if (close === -1) return 'a quoted field has no closing quote';
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
