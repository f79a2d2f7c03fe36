// PO files: what has no translation yet, or a fuzzy one, gets one; comments, contexts, obsolete entries and the header stay.
import { NO_COPIES, limitTexts } from './passage.ts';
import type { Passage, PassageSource, TextPiece, SourceSpan } from './passage.ts';
import { refuse } from './refused-file.ts';
import { limitDeclared } from './source-text.ts';
import type { SourceText } from './source-text.ts';

interface Field extends SourceSpan {
  readonly name: string;
  readonly value: string;
}

interface Entry {
  readonly flags: ReadonlySet<string>;
  readonly fields: readonly Field[];
}

const FIELD = /^(msgctxt|msgid|msgid_plural|msgstr(?:\[\d{1,2}\])?)[ \t]*(?=")/;
const STRING = /^\s*"((?:[^"\\]|\\.)*)"\s*$/;
const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '"': '"',
  '\\': '\\',
  a: '\u0007',
  b: '\b',
  f: '\f',
  v: '\v',
};
/** Of C, Python, PHP, Ruby and Qt; `{name}` as well, which any of the brace formats has. */
const PLACEHOLDER =
  /%%|%(?:\(\w+\)|\{\w+\}|<\w+>)?(?:\d+\$)?[-+#0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlLqjzt])?[@a-zA-Z\d]|\{[\w.:!]*\}/g;

export function poFile(given: SourceText): PassageSource {
  const source = given.text;
  const passages: Passage[] = [];
  const newLine = source.includes('\r\n') ? '\r\n' : '\n';
  const entries = [...entriesOf(source)];
  if (entries.length === 0) refuse('the file has no msgid');
  for (const entry of entries) {
    const id = entry.fields.find(({ name }) => name === 'msgid');
    if (id === undefined) refuse('the file has an entry without a msgid');
    if (id.value === '') {
      limitDeclared(/charset=([\w.:-]+)/.exec(entry.fields.find(({ name }) => name === 'msgstr')?.value ?? '')?.[1], given);
      continue;
    }
    passages.push(...passagesOf(entry, id, newLine));
    limitTexts(passages.length);
  }
  return { source, passages, copies: NO_COPIES };
}

function passagesOf({ fields, flags }: Entry, id: Field, newLine: string): Passage[] {
  const plural = fields.find(({ name }) => name === 'msgid_plural');
  const strings = fields.filter(({ name }) => name.startsWith('msgstr'));
  const isKept = !flags.has('fuzzy') && strings.some(({ value }) => value !== '' && value !== id.value && value !== plural?.value);
  if (isKept) return [];
  return strings.flatMap((string): Passage[] => {
    const { value } = string.name === 'msgstr' || string.name === 'msgstr[0]' ? id : (plural ?? id);
    const text = value.trim();
    if (text === '') return [];
    const at = value.indexOf(text);
    const span = { from: string.from, to: string.to };
    const render: Passage['render'] = (pieces) =>
      written(value.slice(0, at) + pieces.map((piece) => writtenPiece(piece, text)).join('') + value.slice(at + text.length), newLine);
    return [
      {
        ...span,
        pieces: piecesOf(
          text,
          [...flags].some((flag) => flag.endsWith('-format') && !flag.startsWith('no-')),
        ),
        always: true,
        render,
      },
    ];
  });
}

/** The span of a placeholder's mark is in the text, not in the source. */
function piecesOf(text: string, hasPlaceholders: boolean): TextPiece[] {
  const pieces: TextPiece[] = [];
  let at = 0;
  const add = (to: number): void => {
    if (to > at) pieces.push({ kind: 'text', text: text.slice(at, to), span: { from: at, to } });
    at = to;
  };
  for (const { 0: token, index } of hasPlaceholders ? text.matchAll(PLACEHOLDER) : []) {
    add(index);
    at = index + token.length;
    pieces.push({ kind: 'empty', mark: { open: { from: index, to: at }, close: undefined, ordered: false } });
  }
  add(text.length);
  return pieces;
}

function writtenPiece(piece: TextPiece, text: string): string {
  return piece.kind === 'text' ? piece.text : text.slice(piece.mark.open.from, piece.mark.open.to);
}

/** A string of several lines begins with an empty one, as gettext's own tools write it. */
function written(value: string, newLine: string): string {
  const lines = value.match(/[^\n]*\n|[^\n]+$/g) ?? [''];
  const quoted = lines.map((line) => `"${escaped(line)}"`);
  return lines.length === 1 ? quoted[0]! : ['""', ...quoted].join(newLine);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\r', '\\r');
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(x[\da-fA-F]{1,2}|[0-7]{1,3}|.)/g, (_all, code: string) => {
    if (code[0] === 'x' && code.length > 1) return String.fromCharCode(Number.parseInt(code.slice(1), 16));
    if (/^[0-7]/.test(code)) return String.fromCharCode(Number.parseInt(code, 8));
    return ESCAPES[code] ?? code;
  });
}

function* entriesOf(source: string): Generator<Entry> {
  let flags = new Set<string>();
  let fields: { name: string; value: string; from: number; to: number }[] = [];
  let at = 0;
  for (const [index, given] of source.split('\n').entries()) {
    const line = given.endsWith('\r') ? given.slice(0, -1) : given;
    const from = at;
    at += given.length + 1;
    const field = FIELD.exec(line);
    const isComment = line.startsWith('#');
    // An entry ends where the next begins: with a comment, a context or an id.
    if (fields.some(({ name }) => name.startsWith('msgstr')) && (isComment || field?.[1] === 'msgid' || field?.[1] === 'msgctxt')) {
      yield { flags, fields };
      [flags, fields] = [new Set(), []];
    }
    if (line.startsWith('#,')) for (const flag of line.slice(2).split(',')) flags.add(flag.trim());
    if (isComment || line.trim() === '') continue;
    const string = STRING.exec(line.slice(field?.[0].length ?? 0));
    if (string === null || (field === null && fields.length === 0)) refuse(`line ${index + 1} of the file is none of a PO file`);
    if (field !== null) fields.push({ name: field[1]!, value: '', from: from + field[0].length, to: 0 });
    const last = fields.at(-1)!;
    last.value += unescaped(string[1]!);
    last.to = from + line.trimEnd().length;
  }
  if (fields.length > 0) yield { flags, fields };
}
