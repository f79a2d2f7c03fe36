// Parses a form (application/x-www-form-urlencoded): media type, content coding, size, escapes, UTF-8; and query parameters.
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

export type FormBody =
  /** In the order received; names may repeat. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The request fields that `readFormBody` reads. */
export const FORM_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

const FORM = 'application/x-www-form-urlencoded';
/** Each field costs as much as some hundred bytes of text: a form of many short fields would block the event loop. */
export const FIELDS_MAX = 1000;
/** Checked before anything else about the fields. */
export const TOO_MANY_FIELDS = `body: a form may have at most ${FIELDS_MAX} fields.`;
const AMPERSAND = 0x26;
const PLUS = 0x2b;
const SPACE = 0x20;
const NOT_ASCII = /[^\0-\x7f]/;

/** Whether a request declares its body as a form. */
export function isFormType(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() === FORM;
}

export function readFormBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number): FormBody {
  if (!isFormType(headers)) return no(`Content-Type: must be ${FORM}.`);
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return { kind: 'fields', fields: [] };
  return fieldsOf(spaced(body).toString('latin1'), 'body', TOO_MANY_FIELDS);
}

/** Query parameters, encoded like form fields; for APIs that accept in the query what otherwise goes into the body. */
export function readQuery(query: string): FormBody {
  return fieldsOf(query.replaceAll('+', ' '), 'query', `query: may have at most ${FIELDS_MAX} parameters.`);
}

/** `text` has spaces in place of `+`. */
function fieldsOf(text: string, place: 'body' | 'query', tooMany: string): FormBody {
  if (NOT_ASCII.test(text)) return no(`${place}: characters beyond ASCII must be escaped as %XX.`);
  const pairs = pairsOf(text);
  if (pairs.length > FIELDS_MAX) return no(tooMany);
  try {
    return { kind: 'fields', fields: pairs.map(fieldOf) };
  } catch {
    // Rejected rather than repaired: otherwise a different text than the one sent would be translated and charged.
    return no(`${place}: an escape is not two hexadecimal digits after a %, or the escaped bytes are not UTF-8.`);
  }
}

/** The non-empty parts between `&`, up to the first one over the limit. */
function pairsOf(text: string): readonly string[] {
  const pairs: string[] = [];
  let at = 0;
  while (at < text.length && pairs.length <= FIELDS_MAX) {
    if (text.charCodeAt(at) === AMPERSAND) {
      at++;
      continue;
    }
    const found = text.indexOf('&', at);
    const end = found === -1 ? text.length : found;
    pairs.push(text.slice(at, end));
    at = end;
  }
  return pairs;
}

/** Throws a `URIError` for an invalid escape. */
function fieldOf(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=');
  return equals === -1
    ? [decodeURIComponent(pair), '']
    : [decodeURIComponent(pair.slice(0, equals)), decodeURIComponent(pair.slice(equals + 1))];
}

/** A copy with each `+` replaced by a space. Doing this on strings would cost fifty times as much. */
function spaced(body: Uint8Array): Buffer {
  const bytes = Buffer.from(body);
  for (let at = bytes.indexOf(PLUS); at !== -1 && at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes;
}

function no(detail: string): FormBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}
