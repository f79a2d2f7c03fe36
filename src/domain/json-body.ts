// Parses a caller's JSON body: media type, content coding, size, UTF-8, depth and counts, and syntax, in this order.
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import {
  COLON,
  COMMA,
  endOfString,
  jsonFault,
  LIST,
  LIST_END,
  MEMBERS_MAX,
  OBJECT,
  OBJECT_END,
  QUOTE,
  TOO_DEEP,
  utf8Text,
} from './json-bounds.ts';

export type JsonBody = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** How to refuse an overlong list in a body that is too costly to parse. */
export interface ListLimit {
  /** Name of the member; `undefined` if the body itself is the list. */
  readonly name: string | undefined;
  readonly entriesMax: number;
  readonly refusal: Refusal;
  /** A refusal that takes precedence, based on the names of the body's members. */
  readonly namesRefusal?: (names: readonly string[]) => Refusal | undefined;
}

/** The members of a JSON object, with values not yet validated. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** The request fields that `readJsonBody` reads. */
export const JSON_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

const JSON_TYPE = 'application/json';

/** What is wrong with a body before anything in it is read: its media type, its coding, its size. */
export function bodyFault(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, type: string): string | undefined {
  const given = headers['content-type'];
  if (given !== type && given?.split(';', 1)[0]!.trim().toLowerCase() !== type) return `Content-Type: must be ${type}.`;
  if (headers['content-encoding'] !== undefined) return 'Content-Encoding: is not supported; send the body as it is.';
  return body === 'too_large' ? `body: may be at most ${bytesMax} bytes long.` : undefined;
}

export function readJsonBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, limit?: ListLimit): JsonBody {
  const headFault = bodyFault(headers, body, bytesMax, JSON_TYPE);
  if (headFault !== undefined) return no(headFault);
  if (typeof body === 'string' || body.length === 0) return no('body: must be a JSON object; it is empty.');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = utf8Text(bytes);
  if (text === undefined) return no('body: must be valid UTF-8.');
  const fault = jsonFault(bytes, text);
  if (fault !== undefined) {
    // Excessive nesting is reported first, before any list in the body.
    const outline = limit === undefined || fault === TOO_DEEP ? undefined : outlineOf(bytes, limit);
    if (limit === undefined || outline?.isListOfMore !== true) return no(`body: ${fault}.`);
    return { kind: 'refused', refusal: limit.namesRefusal?.(outline.names) ?? limit.refusal };
  }
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown };
  } catch {
    return no('body: must be well-formed JSON.');
  }
}

function no(detail: string): JsonBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}

/** Longer names are truncated. */
const NAME_BYTES_MAX = 128;

/**
 * Of a body that may not be parsed: the names of its members, and whether it is a list of more entries than the limit or, if that has
 * a name, an object whose member of that name is.
 */
export function outlineOf(bytes: Buffer, { name, entriesMax }: Pick<ListLimit, 'name' | 'entriesMax'>) {
  const listDepth = name === undefined ? 1 : 2;
  const quoted = JSON.stringify(name ?? '');
  const names = new Set<string>();
  let [depth, entries, members] = [0, 0, 0];
  let string = '';
  let isListOfMore = false;
  let isNamed = name === undefined;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]!) {
      case QUOTE: {
        const end = endOfString(bytes, at + 1);
        if (depth === 1 && members <= MEMBERS_MAX) string = bytes.toString('utf8', at, Math.min(end + 1, at + NAME_BYTES_MAX));
        at = end;
        break;
      }
      case COLON:
        if (depth !== 1 || ++members > MEMBERS_MAX) break;
        names.add(string);
        isNamed = name !== undefined && string === quoted;
        break;
      case LIST:
        if (++depth === listDepth && isNamed) entries = 1;
        break;
      case OBJECT:
        depth++;
        break;
      case LIST_END:
      case OBJECT_END:
        if (--depth < listDepth) entries = 0;
        break;
      case COMMA:
        if (depth === listDepth && entries > 0 && ++entries > entriesMax) isListOfMore = true;
        break;
      default:
    }
  }
  return { names: [...names].map(nameOf), isListOfMore };
}

/** Decodes a quoted string; one that was truncated or is invalid is returned as it is. */
function nameOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
