// Parses a JSON body: media type, content coding, size, UTF-8, depth and counts, and syntax, in this order. Depth and counts
// bound the cost of parsing: they are determined in one pass over the bytes before it.
import { isAscii, isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

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

/** Deeper nesting makes `JSON.parse` several times slower per byte, and no valid body is nested deeper than five levels. */
const DEPTH_MAX = 64;
/**
 * Limits on the content of a body. Each is at least twice what the largest valid request needs, and costs the parser about ten
 * milliseconds: a glossary has 5,000 members, a list of dictionaries 100 objects, a translation 50 texts. Text within strings
 * costs next to nothing, however long.
 */
const CONTAINERS_MAX = 5_000;
const MEMBERS_MAX = 10_000;
const VALUES_MAX = 10_000;
/** Shorter texts always parse within two milliseconds: only their depth is checked. */
const SHORT = 16_384;

const TOO_DEEP = `may be nested at most ${DEPTH_MAX} levels deep`;
const TOO_MANY = `may hold at most ${CONTAINERS_MAX} lists and objects, ${MEMBERS_MAX} members and ${VALUES_MAX} values`;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

export function readJsonBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, limit?: ListLimit): JsonBody {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJsonType(type)) return no('Content-Type: must be application/json.');
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return no('body: must be a JSON object; it is empty.');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // Most bodies are ASCII, for which latin1 gives the same text in half the time. Validated first: decoding would silently
  // replace bad bytes by U+FFFD, and other characters than those sent would be charged.
  const text = isAscii(bytes) ? bytes.toString('latin1') : isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  if (text === undefined) return no('body: must be valid UTF-8.');
  const fault = jsonFault(body, text);
  if (fault !== undefined) {
    // Excessive nesting is reported first, before any list in the body.
    const isList = limit !== undefined && fault !== TOO_DEEP && isListOfMore(body, limit.name, limit.entriesMax);
    if (!isList) return no(`body: ${fault}.`);
    return { kind: 'refused', refusal: limit.namesRefusal?.(outermostNames(body)) ?? limit.refusal };
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

/** What is wrong with it apart from syntax; `undefined` if it may be parsed. `text` is the decoded body. */
export function jsonFault(bytes: Uint8Array, text: string): string | undefined {
  if (bytes.length > SHORT) return scanned(bytes);
  // Nearly every request is short and has few brackets, even with those in strings: native searches instead of a loop.
  let left = DEPTH_MAX;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (--left < 0) return scanned(bytes);
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (--left < 0) return scanned(bytes);
  return undefined;
}

/** Stops at the first fault. It may count malformed JSON differently from a parser, but that is rejected either way. */
function scanned(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let containers = 0;
  let members = 0;
  let values = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]!) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        break;
      case LIST:
      case OBJECT:
        if (++depth > DEPTH_MAX) return TOO_DEEP;
        if (++containers > CONTAINERS_MAX) return TOO_MANY;
        break;
      case LIST_END:
      case OBJECT_END:
        depth--;
        break;
      case COLON:
        if (++members > MEMBERS_MAX) return TOO_MANY;
        break;
      case COMMA:
        if (++values > VALUES_MAX) return TOO_MANY;
        break;
      default:
    }
  }
  return undefined;
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
function outermostNames(bytes: Uint8Array): readonly string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
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
        names.add(text.toString('utf8', from, Math.min(to + 1, from + NAME_BYTES_MAX)));
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

/** Position of the closing quote of the string that begins before `from`; the end of the input if there is none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return at;
}
