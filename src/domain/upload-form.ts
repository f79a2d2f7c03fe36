// Parses the multipart form of an upload: one file, named `file`, beside fields of text.
import { isUtf8 } from 'node:buffer';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { boundaryOf, isMultipartType } from './multipart-body.ts';
import { nameFault } from './record-name.ts';

export interface UploadForm {
  readonly kind: 'form';
  readonly fields: Readonly<Record<string, string>>;
  readonly fileName: string;
  readonly bytes: Uint8Array;
}

const PARTS_MAX = 16;
const HEAD_BYTES_MAX = 2048;
const FIELD_BYTES_MAX = 4096;
const FILE_NAME_MAX = 255;
const DISPOSITION = /^content-disposition:\s*form-data\s*;(.*)$/i;
const BROKEN = 'body: is not well-formed multipart/form-data.';

interface Part {
  readonly name: string;
  readonly fileName: string | undefined;
  readonly bytes: Buffer;
}

/** Why a request cannot be an upload, as far as its head shows. */
export function uploadHeadFault(headers: Readonly<Record<string, string>>): Refusal | undefined {
  if (!isMultipartType(headers)) return no('Content-Type: must be multipart/form-data.');
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  return boundaryOf(headers['content-type']!) === undefined ? no('Content-Type: must name the boundary of the parts.') : undefined;
}

/**
 * `headers` have been checked by `uploadHeadFault`. `names` are the fields that are accepted; each may be sent once. With `any`, all
 * are, the values of a repeated one are joined by commas, and a field `filename` names the file.
 */
export function readUploadForm(
  headers: Readonly<Record<string, string>>,
  body: Buffer,
  names: readonly string[] | 'any',
): UploadForm | Refusal {
  const parts = partsOf(body, boundaryOf(headers['content-type']!)!);
  if (typeof parts === 'string') return no(parts);
  const fields = new Map<string, string>();
  let file: Part | undefined;
  for (const part of parts) {
    if (part.name === 'file') {
      if (file !== undefined) return no('file: send one file.');
      file = part;
      continue;
    }
    const isAgain = fields.has(part.name);
    if (names !== 'any') {
      if (!names.includes(part.name)) return no(`Unknown parameter. Accepted are file, ${names.join(', ')}.`);
      if (isAgain) return no(`${part.name}: send it once.`);
    }
    if (part.fileName !== undefined) return no(`${part.name}: must be text and no file.`);
    if (part.bytes.length > FIELD_BYTES_MAX || !isUtf8(part.bytes)) return no(`${part.name}: must be short text in UTF-8.`);
    const value = part.bytes.toString('utf8');
    fields.set(part.name, isAgain ? `${fields.get(part.name)!},${value}` : value);
  }
  if (file === undefined) return no('file: is missing.');
  const fileName = plainName((names === 'any' && fields.get('filename')) || file.fileName);
  if (fileName === undefined) return no(`file: must have a file name of at most ${FILE_NAME_MAX} characters, with an ending.`);
  if (file.bytes.length === 0) return no('file: is empty.');
  return { kind: 'form', fields: Object.fromEntries(fields), fileName, bytes: file.bytes };
}

function partsOf(body: Buffer, boundary: string): readonly Part[] | string {
  const opening = Buffer.from(`--${boundary}`, 'latin1');
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  if (!body.subarray(0, opening.length).equals(opening)) return BROKEN;
  const parts: Part[] = [];
  let at = opening.length;
  while (textAt(body, at, 2) === '\r\n') {
    const headEnd = body.subarray(at, at + 2 + HEAD_BYTES_MAX).indexOf('\r\n\r\n');
    const end = body.indexOf(delimiter, at);
    if (end === -1) return BROKEN;
    if (headEnd === -1 || at + headEnd > end) return 'body: the head of a part is too long, or not ended.';
    if (parts.length === PARTS_MAX) return `body: may have at most ${PARTS_MAX} parts.`;
    const part = formPartOf(body.subarray(at + 2, at + headEnd), body.subarray(at + headEnd + 4, end));
    if (part === undefined) return BROKEN;
    parts.push(part);
    at = end + delimiter.length;
  }
  const rest = textAt(body, at, body.length - at);
  return rest === '--' || rest === '--\r\n' ? parts : BROKEN;
}

function formPartOf(head: Buffer, bytes: Buffer): Part | undefined {
  if (!isUtf8(head)) return undefined;
  const lines = head.toString('utf8').split('\r\n');
  if (lines.some((line) => /^content-transfer-encoding:(?!\s*(?:7bit|8bit|binary)\s*$)/i.test(line))) return undefined;
  const found = lines.flatMap((line) => DISPOSITION.exec(line)?.[1] ?? []);
  if (found.length !== 1) return undefined;
  const parameters = found[0]!;
  const name = /;?\s*name="([^"]*)"/i.exec(`;${parameters}`.replace(/filename\*?="[^"]*"/gi, ''))?.[1];
  if (name === undefined) return undefined;
  return { name, fileName: fileNameOf(parameters), bytes };
}

function fileNameOf(parameters: string): string | undefined {
  const encoded = /filename\*=UTF-8''([^;\s]*)/i.exec(parameters)?.[1];
  if (encoded !== undefined) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return undefined;
    }
  }
  const given = /filename="([^"]*)"/i.exec(parameters)?.[1] ?? /filename=([^";\s]+)/i.exec(parameters)?.[1];
  return given?.replaceAll('%22', '"');
}

/** Without folders, which some clients send; `undefined` if it is no name. */
export function plainName(name: string | undefined): string | undefined {
  const plain = name?.replace(/^.*[/\\]/s, '').trim();
  if (plain === undefined || plain === '' || plain.length > FILE_NAME_MAX) return undefined;
  return nameFault(plain) !== undefined || !plain.includes('.') ? undefined : plain;
}

function textAt(body: Buffer, at: number, length: number): string {
  return length > 4 ? '' : body.toString('latin1', at, at + length);
}

function no(detail: string): Refusal {
  return refuse('validation_error', detail);
}
