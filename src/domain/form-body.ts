// Forms of callers: URL-encoded and multipart bodies, query parameters, and uploads, which are
// multipart with one file. What is not exact is refused: repaired, another text than the one sent
// would be translated and charged.
import { isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { bodyFault } from './json-body.ts';
import { nameFault } from './record-name.ts';

type Headers = Readonly<Record<string, string>>;

export type FormBody =
  /** In the order received; names may repeat. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The request fields that the readers of forms need. */
export const FORM_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
/** Each costs as much as some hundred bytes of text: many would block the event loop. */
const FIELDS_MAX = 1000;
/** Checked before anything else about the fields. */
const TOO_MANY_FIELDS = `body: a form may have at most ${FIELDS_MAX} fields.`;
const NOTHING: FormBody = { kind: 'fields', fields: [] };

/** Whether a request declares its body as a form. */
export function isFormType(headers: Headers): boolean {
  return isType(headers, FORM);
}

/** Whether a request declares its body as a multipart form. */
export function isMultipartType(headers: Headers): boolean {
  return isType(headers, MULTIPART);
}

function isType(headers: Headers, type: string): boolean {
  return headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() === type;
}

export function readFormBody(headers: Headers, body: Body, bytesMax: number): FormBody {
  const fault = bodyFault(headers, body, bytesMax, FORM);
  if (fault !== undefined) return refused(fault);
  if (typeof body === 'string' || body.length === 0) return NOTHING;
  return encodedFields(spaced(body).toString('latin1'), 'body', TOO_MANY_FIELDS);
}

/** Encoded like form fields; for APIs that accept in the query what goes into the body. */
export function readQuery(query: string): FormBody {
  return encodedFields(query.replaceAll('+', ' '), 'query', `query: may have at most ${FIELDS_MAX} parameters.`);
}

/** `text` has spaces in place of `+`. */
function encodedFields(text: string, place: 'body' | 'query', tooMany: string): FormBody {
  if (/[^\0-\x7f]/.test(text)) return refused(`${place}: characters beyond ASCII must be escaped as %XX.`);
  const pairs: string[] = [];
  // Empty ones do not count.
  for (const [pair] of text.matchAll(/[^&]+/g)) if (pairs.push(pair) > FIELDS_MAX) return refused(tooMany);
  try {
    return { kind: 'fields', fields: pairs.map(encodedField) };
  } catch {
    return refused(`${place}: an escape is not two hexadecimal digits after a %, or the escaped bytes are not UTF-8.`);
  }
}

/** Throws a `URIError` for an invalid escape. */
function encodedField(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=');
  const [name, value] = equals === -1 ? [pair, ''] : [pair.slice(0, equals), pair.slice(equals + 1)];
  return [decodeURIComponent(name), decodeURIComponent(value)];
}

/** A copy with each `+` replaced by a space. On strings it would cost fifty times as much. */
function spaced(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  for (let at = bytes.indexOf('+'); at !== -1; at = bytes.indexOf('+', at + 1)) bytes[at] = 0x20;
  return bytes;
}

/** RFC 2046 section 5.1.1: the characters allowed in a boundary. It may be quoted. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const BOUNDARY_CHARACTERS = /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/;
/** Of the head of a part, with its end. */
const HEAD_BYTES_MAX = 2048;
const HEAD_END = '\r\n\r\n';
const BROKEN = 'body: is not well-formed multipart/form-data.';
const NO_BOUNDARY = 'Content-Type: must name the boundary of the parts.';

/** The lines of its head, and its content. */
interface Part {
  readonly lines: readonly string[];
  readonly bytes: Buffer;
}

/** The boundary that the type names, if it is a valid one. */
function boundaryOf(headers: Headers): string | undefined {
  const match = BOUNDARY.exec(headers['content-type']!);
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && BOUNDARY_CHARACTERS.test(boundary) ? boundary : undefined;
}

/** The parts, or what is wrong with the body. */
function partsOf(body: Buffer, boundary: string, partsMax: number, tooMany: string): readonly Part[] | string {
  const opening = Buffer.from(`--${boundary}`, 'latin1');
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  const isAt = (at: number, text: string): boolean => body.toString('latin1', at, at + text.length) === text;
  if (!body.subarray(0, opening.length).equals(opening)) return BROKEN;
  const parts: Part[] = [];
  let at = opening.length;
  while (isAt(at, '\r\n')) {
    const end = body.indexOf(delimiter, at);
    if (end === -1) return BROKEN;
    if (parts.length === partsMax) return tooMany;
    const part = body.subarray(at + 2, end);
    const headEnd = part.subarray(0, HEAD_BYTES_MAX).indexOf(HEAD_END);
    if (headEnd === -1)
      return part.length < HEAD_BYTES_MAX ? BROKEN : `body: the head of a part may be at most ${HEAD_BYTES_MAX} bytes long.`;
    const head = part.subarray(0, headEnd);
    if (!isUtf8(head)) return 'body: must be valid UTF-8.';
    parts.push({ lines: head.toString('utf8').split('\r\n'), bytes: part.subarray(headEnd + HEAD_END.length) });
    at = end + delimiter.length;
  }
  // Anything else after the last part would be ambiguous.
  const isWhole = isAt(at, '--') && (body.length === at + 2 || (isAt(at + 2, '\r\n') && body.length === at + 4));
  return isWhole ? parts : BROKEN;
}

/** Only fields of text. */
export function readMultipartBody(headers: Headers, body: Body, bytesMax: number): FormBody {
  const fault = bodyFault(headers, body, bytesMax, MULTIPART);
  if (fault !== undefined) return refused(fault);
  const boundary = boundaryOf(headers);
  if (boundary === undefined) return refused(NO_BOUNDARY);
  if (typeof body === 'string' || body.length === 0) return NOTHING;
  const parts = partsOf(Buffer.from(body.buffer, body.byteOffset, body.length), boundary, FIELDS_MAX, TOO_MANY_FIELDS);
  if (typeof parts === 'string') return refused(parts);
  const fields: [name: string, value: string][] = [];
  for (const part of parts) {
    const field = textField(part);
    if (typeof field === 'string') return refused(field);
    fields.push(field);
  }
  return { kind: 'fields', fields };
}

const DISPOSITION = /^content-disposition:\s*form-data\s*(;.*)$/i;
const UTF8_TEXT = /^content-type:\s*text\/plain\s*(;\s*charset="?utf-8"?\s*)?$/i;
const CODED = /^content-transfer-encoding:/i;
const UNCODED = /^content-transfer-encoding:\s*(?:7bit|8bit|binary)\s*$/i;
/** How browsers escape characters in names. */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

/** The field in a part, or what is wrong with it. */
function textField({ lines, bytes }: Part): [name: string, value: string] | string {
  const head = headOf(lines);
  if (head === undefined) return 'body: each part must have one Content-Disposition with a name in quotes.';
  if (head.fileName !== undefined) return 'body: files are not accepted; send the text itself.';
  if (!lines.every((line) => DISPOSITION.test(line) || UTF8_TEXT.test(line) || UNCODED.test(line)))
    return 'body: a part may only be plain text in UTF-8, not encoded.';
  if (!isUtf8(bytes)) return 'body: must be valid UTF-8.';
  return [head.name, bytes.toString('utf8')];
}

/** Of a file's name: its format, `docx`. */
export function endingOf(fileName: string): string {
  return fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase();
}

/** An upload: one file, named `file`, beside fields of text. */
export interface UploadForm {
  readonly kind: 'form';
  readonly fields: Readonly<Record<string, string>>;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

const UPLOAD_PARTS_MAX = 16;
const UPLOAD_FIELD_BYTES_MAX = 4096;
const FILE_NAME_MAX = 255;

/** Why a request cannot be an upload, as far as its head shows. */
export function uploadHeadFault(headers: Headers): Refusal | undefined {
  const fault = bodyFault(headers, 'none', 0, MULTIPART) ?? (boundaryOf(headers) === undefined ? NO_BOUNDARY : undefined);
  return fault === undefined ? undefined : no(fault);
}

/**
 * `headers` are checked (`uploadHeadFault`). Each of `names` may be sent once. With `any`, all are
 * taken, those of one name joined by commas, and `filename` names the file.
 */
export function readUploadForm(headers: Headers, body: Buffer, names: readonly string[] | 'any'): UploadForm | Refusal {
  const parts = partsOf(body, boundaryOf(headers)!, UPLOAD_PARTS_MAX, `body: may have at most ${UPLOAD_PARTS_MAX} parts.`);
  if (typeof parts === 'string') return no(parts);
  const fields = new Map<string, string>();
  let file: { readonly fileName: string | undefined; readonly bytes: Buffer } | undefined;
  for (const { lines, bytes } of parts) {
    const head = headOf(lines);
    if (head === undefined || lines.some((line) => CODED.test(line) && !UNCODED.test(line))) return no(BROKEN);
    const { name, fileName } = head;
    if (name === 'file') {
      if (file !== undefined) return no('file: send one file.');
      file = { fileName, bytes };
      continue;
    }
    const before = fields.get(name);
    if (names !== 'any' && !names.includes(name)) return no(`Unknown parameter. Accepted are file, ${names.join(', ')}.`);
    if (names !== 'any' && before !== undefined) return no(`${name}: send it once.`);
    if (fileName !== undefined) return no(`${name}: must be text and no file.`);
    if (bytes.length > UPLOAD_FIELD_BYTES_MAX || !isUtf8(bytes)) return no(`${name}: must be short text in UTF-8.`);
    const value = bytes.toString('utf8');
    fields.set(name, before === undefined ? value : `${before},${value}`);
  }
  if (file === undefined) return no('file: is missing.');
  const fileName = plainName((names === 'any' && fields.get('filename')) || file.fileName);
  if (fileName === undefined) return no(`file: must have a file name of at most ${FILE_NAME_MAX} characters, with an ending.`);
  if (file.bytes.length === 0) return no('file: is empty.');
  return { kind: 'form', fields: Object.fromEntries(fields), fileName, bytes: file.bytes };
}

/** Clients write the names of a part in any order and form; `undefined` if it has no name. */
function headOf(lines: readonly string[]): { readonly name: string; readonly fileName: string | undefined } | undefined {
  const [given, ...more] = lines.flatMap((line) => DISPOSITION.exec(line)?.[1] ?? []);
  const name = /;\s*name="([^"]*)"/i.exec(given?.replace(/filename\*?="[^"]*"/gi, '') ?? '')?.[1];
  if (name === undefined || more.length > 0) return undefined;
  return { name: name.replaceAll(/%22|%0D|%0A/gi, (escape) => ESCAPES[escape.toUpperCase()]!), fileName: fileNameIn(given!) };
}

function fileNameIn(parameters: string): string | undefined {
  const encoded = /filename\*=UTF-8''([^;\s]*)/i.exec(parameters)?.[1];
  try {
    if (encoded !== undefined) return decodeURIComponent(encoded);
  } catch {
    return undefined;
  }
  return /filename="([^"]*)"/i.exec(parameters)?.[1]?.replaceAll('%22', '"') ?? /filename=([^";\s]+)/i.exec(parameters)?.[1];
}

/** Without folders, which some clients send; `undefined` if it is no name. */
function plainName(name: string | undefined): string | undefined {
  const plain = name?.replace(/^.*[/\\]/s, '').trim();
  if (plain === undefined || plain === '' || plain.length > FILE_NAME_MAX) return undefined;
  return nameFault(plain) !== undefined || !plain.includes('.') ? undefined : plain;
}

function no(detail: string): Refusal {
  return refuse('validation_error', detail);
}

function refused(detail: string): FormBody {
  return { kind: 'refused', refusal: no(detail) };
}
