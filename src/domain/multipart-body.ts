// Parses a multipart form (multipart/form-data, RFC 7578): framing, names, UTF-8. Files are refused.
import { isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import { FIELDS_MAX, TOO_MANY_FIELDS } from './form-body.ts';
import type { FormBody } from './form-body.ts';

const MULTIPART = 'multipart/form-data';
/** RFC 2046 section 5.1.1: the characters allowed in a boundary. It may be quoted. */
const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))\s*(?:;|$)/i;
const BOUNDARY_CHARACTERS = /^[\w'()+,./:=? -]*[\w'()+,./:=?-]$/;
/** Limit per part. */
const HEAD_BYTES_MAX = 1024;
const DISPOSITION = /^content-disposition:\s*form-data\s*;\s*name="([^"]*)"\s*(;\s*filename\*?=.*)?$/i;
const UTF8_TEXT = /^content-type:\s*text\/plain\s*(;\s*charset="?utf-8"?\s*)?$/i;
const UNCODED = /^content-transfer-encoding:\s*(?:7bit|8bit|binary)\s*$/i;
/** How browsers escape characters in names. */
const ESCAPES: Readonly<Record<string, string>> = { '%22': '"', '%0D': '\r', '%0A': '\n' };

const BROKEN = 'body: is not well-formed multipart/form-data.';

/** Whether a request declares its body as a multipart form. */
export function isMultipartType(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() === MULTIPART;
}

/** Reads the same request fields as `readFormBody`. */
export function readMultipartBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number): FormBody {
  if (!isMultipartType(headers)) return no(`Content-Type: must be ${MULTIPART}.`);
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  const boundary = boundaryOf(headers['content-type']!);
  if (boundary === undefined) return no('Content-Type: must name the boundary of the parts.');
  if (body === 'none' || body.length === 0) return { kind: 'fields', fields: [] };
  return fieldsOf(Buffer.from(body.buffer, body.byteOffset, body.length), boundary);
}

/** The boundary that a type names, if it is a right one. */
export function boundaryOf(type: string): string | undefined {
  const match = BOUNDARY.exec(type);
  const boundary = match?.[1] ?? match?.[2];
  return boundary !== undefined && BOUNDARY_CHARACTERS.test(boundary) ? boundary : undefined;
}

function fieldsOf(bytes: Buffer, boundary: string): FormBody {
  const opening = Buffer.from(`--${boundary}`, 'latin1');
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  if (!bytes.subarray(0, opening.length).equals(opening)) return no(BROKEN);
  const fields: [name: string, value: string][] = [];
  let at = opening.length;
  while (startsWith(bytes, at, '\r\n')) {
    const end = bytes.indexOf(delimiter, at);
    if (end === -1) return no(BROKEN);
    if (fields.length === FIELDS_MAX) return no(TOO_MANY_FIELDS);
    const field = fieldOf(bytes.subarray(at + 2, end));
    if (typeof field === 'string') return no(field);
    fields.push(field);
    at = end + delimiter.length;
  }
  // Anything else after the last part would be ambiguous.
  const isWhole =
    startsWith(bytes, at, '--') && (bytes.length === at + 2 || (startsWith(bytes, at + 2, '\r\n') && bytes.length === at + 4));
  return isWhole ? { kind: 'fields', fields } : no(BROKEN);
}

/** The field in a part, or what is wrong with it. */
function fieldOf(part: Buffer): [name: string, value: string] | string {
  const headEnd = part.indexOf('\r\n\r\n');
  if (headEnd === -1) return BROKEN;
  if (headEnd > HEAD_BYTES_MAX) return `body: the head of a part may be at most ${HEAD_BYTES_MAX} bytes long.`;
  const head = part.subarray(0, headEnd);
  const value = part.subarray(headEnd + 4);
  // Rejected rather than repaired: otherwise a different text than the one sent would be translated and charged.
  if (!isUtf8(head) || !isUtf8(value)) return 'body: must be valid UTF-8.';
  const name = nameOf(head.toString('utf8').split('\r\n'));
  return typeof name === 'string' ? name : [name.name, value.toString('utf8')];
}

function nameOf(lines: readonly string[]): { readonly name: string } | string {
  const dispositions = lines.flatMap((line) => DISPOSITION.exec(line) ?? []);
  const others = lines.filter((line) => !DISPOSITION.test(line));
  // Exactly one match yields three entries: the whole line, the name, and the file name if there is one.
  if (dispositions.length !== 3) return 'body: each part must have one Content-Disposition with a name in quotes.';
  if (dispositions[2] !== undefined) return 'body: files are not accepted; send the text itself.';
  const odd = others.find((line) => !UTF8_TEXT.test(line) && !UNCODED.test(line));
  if (odd !== undefined) return 'body: a part may only be plain text in UTF-8, not encoded.';
  return { name: dispositions[1]!.replaceAll(/%22|%0D|%0A/gi, (escape) => ESCAPES[escape.toUpperCase()]!) };
}

function startsWith(bytes: Buffer, at: number, text: string): boolean {
  return bytes.toString('latin1', at, at + text.length) === text;
}

function no(detail: string): FormBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}
