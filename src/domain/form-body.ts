// From bytes to the fields of a form (application/x-www-form-urlencoded): media type, content coding, size, escapes, UTF-8.
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

export type FormBody =
  /** In the order in which they came; a name may come again. */
  | { readonly kind: 'fields'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The request fields that `readFormBody` looks at. */
export const FORM_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

const FORM = 'application/x-www-form-urlencoded';
const NOT_ASCII = /[^\0-\x7f]/;

/** Whether a request says that its body is a form. */
export function isFormType(headers: Readonly<Record<string, string>>): boolean {
  return headers['content-type']?.split(';', 1)[0]!.trim().toLowerCase() === FORM;
}

export function readFormBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number): FormBody {
  if (!isFormType(headers)) return no(`Content-Type: must be ${FORM}.`);
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return { kind: 'fields', fields: [] };
  const text = Buffer.from(body.buffer, body.byteOffset, body.length).toString('latin1');
  if (NOT_ASCII.test(text)) return no('body: characters beyond ASCII must be escaped as %XX.');
  try {
    return { kind: 'fields', fields: text.split('&').filter(Boolean).map(fieldOf) };
  } catch {
    // Refused, not repaired: another text than was sent would be translated and charged.
    return no('body: an escape is not two hexadecimal digits behind a %, or what is escaped is not UTF-8.');
  }
}

/** Throws a `URIError` for a wrong escape. */
function fieldOf(pair: string): [name: string, value: string] {
  const equals = pair.indexOf('=');
  return equals === -1 ? [decoded(pair), ''] : [decoded(pair.slice(0, equals)), decoded(pair.slice(equals + 1))];
}

function decoded(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '));
}

function no(detail: string): FormBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}
