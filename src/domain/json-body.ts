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

export function readJsonBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, limit?: ListLimit): JsonBody {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJsonType(type)) return no('Content-Type: must be application/json.');
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return no('body: must be a JSON object; it is empty.');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = utf8Text(bytes);
  if (text === undefined) return no('body: must be valid UTF-8.');
  const fault = jsonFault(bytes, text);
  if (fault !== undefined) {
    // Excessive nesting is reported first, before any list in the body.
    const isList = limit !== undefined && fault !== TOO_DEEP && isListOfMore(bytes, limit.name, limit.entriesMax);
    if (!isList) return no(`body: ${fault}.`);
    return { kind: 'refused', refusal: limit.namesRefusal?.(outermostNames(bytes)) ?? limit.refusal };
  }
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown };
  } catch {
    return no('body: must be well-formed JSON.');
  }
}

function isJsonType(type: string | undefined): boolean {
  return type !== undefined && type.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
}

function no(detail: string): JsonBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}

/**
 * Whether the body is a list of more than `max` entries, or, with a name, an object whose member of that name is. One extra
 * pass, only for bodies that `jsonFault` rejects.
 */
export function isListOfMore(bytes: Uint8Array, name: string | undefined, max: number): boolean {
  const quoted = Buffer.from(JSON.stringify(name ?? ''));
  const listDepth = name === undefined ? 1 : 2;
  let depth = 0;
  let isNamed = name === undefined;
  let entries = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]!) {
      case QUOTE: {
        const from = at;
        at = endOfString(bytes, at + 1);
        if (depth === 1 && listDepth === 2) isNamed = at + 1 - from === quoted.length && quoted.equals(bytes.subarray(from, at + 1));
        break;
      }
      case LIST:
        if (++depth === 1 && listDepth === 2) return false;
        if (depth === listDepth && isNamed) entries = 1;
        break;
      case OBJECT:
        if (++depth === 1 && listDepth === 1) return false;
        break;
      case LIST_END:
      case OBJECT_END:
        if (--depth < listDepth) entries = 0;
        break;
      case COMMA:
        if (depth === listDepth && entries > 0 && ++entries > max) return true;
        break;
      default:
    }
  }
  return false;
}

/** Longer names are truncated. */
const NAME_BYTES_MAX = 128;

/** The member names of the outermost object, up to the limit on members. One extra pass, only for bodies that `jsonFault` rejects. */
function outermostNames(bytes: Buffer): readonly string[] {
  const names = new Set<string>();
  let depth = 0;
  let [from, to] = [0, 0];
  for (let at = 0, left = MEMBERS_MAX; at < bytes.length && left > 0; at++) {
    switch (bytes[at]!) {
      case QUOTE:
        from = at;
        to = at = endOfString(bytes, at + 1);
        break;
      case LIST:
      case OBJECT:
        depth++;
        break;
      case LIST_END:
      case OBJECT_END:
        depth--;
        break;
      case COLON:
        if (depth !== 1) break;
        left--;
        names.add(bytes.toString('utf8', from, Math.min(to + 1, from + NAME_BYTES_MAX)));
        break;
      default:
    }
  }
  return [...names].map(nameOf);
}

/** Decodes a quoted string; one that was truncated or is invalid is returned as it is. */
function nameOf(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
