// JSON from outside, of callers and engines alike: depth and counts are determined in one pass over
// the bytes before the text is parsed, because they decide what parsing costs. Of a caller's body,
// media type, content coding and size come first. In errors about it stand names of members, never
// values.
import { isAscii, isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';

/** Of a JSON text, besides its depth. Text within strings costs next to nothing. */
export interface JsonBounds {
  /** Lists and objects. */
  readonly containersMax: number;
  readonly membersMax: number;
  /** Entries of lists and members of objects together, without the first of each. */
  readonly valuesMax: number;
}

/** Deeper nesting makes `JSON.parse` several times slower; no valid body exceeds five levels. */
const DEPTH_MAX = 64;
const MEMBERS_MAX = 10_000;
/**
 * At least twice what the largest valid request or answer needs, and some ten milliseconds of
 * parsing: a glossary has 5,000 members, a list 100 objects, a translation 50 texts.
 */
const USUAL: JsonBounds = { containersMax: 5_000, membersMax: MEMBERS_MAX, valuesMax: 10_000 };
/** A shorter text that closes what it opens is not too deep; others cost microseconds. */
const TOO_DEEP_BYTES_MIN = 2 * (DEPTH_MAX + 1);

const TOO_DEEP = `may be nested at most ${DEPTH_MAX} levels deep`;

// The bytes that structure a JSON text.
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

interface JsonFault {
  readonly words: string;
  /** The byte that is too much. */
  readonly at: number;
  /** Whether there are too many entries of lists. */
  readonly isOfLists: boolean;
}

/** What is wrong with it apart from syntax; `undefined` if it may be parsed. */
export function jsonFault(bytes: Uint8Array, bounds: JsonBounds = USUAL): JsonFault | undefined {
  return bytes.length < TOO_DEEP_BYTES_MIN ? undefined : scanned(bytes, bounds);
}

/** A Node buffer, without Node's types, which readers of our declarations may not have. */
interface Bytes extends Uint8Array {
  toString(encoding?: 'latin1' | 'utf8'): string;
}

/**
 * `undefined` if it is none. Validated, because bad bytes would become U+FFFD: other characters
 * than those sent would be charged or delivered.
 */
export function utf8Text(bytes: Bytes): string | undefined {
  // Most are ASCII, for which latin1 gives the same text in half the time.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

const BYTE_ORDER_MARK = 0xfeff;

/** Parses JSON from a server, within bounds; beyond them it is `too_large`, and never parsed. */
export function parseJson(body: Uint8Array, bounds?: JsonBounds): { readonly value: unknown } | 'not_json' | 'too_large' {
  // A view of its own costs a tenth of parsing a short answer.
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = utf8Text(bytes);
  if (text === undefined) return 'not_json';
  if (jsonFault(bytes, bounds) !== undefined) return 'too_large';
  try {
    return { value: JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown };
  } catch {
    return 'not_json';
  }
}

/** Stops at the first fault. May count malformed JSON differently, which is rejected anyway. */
function scanned(bytes: Uint8Array, bounds: JsonBounds): JsonFault | undefined {
  const { containersMax, membersMax, valuesMax } = bounds;
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
        if (++depth > DEPTH_MAX) return { words: TOO_DEEP, at, isOfLists: false };
        if (++containers > containersMax) return beyond(bounds, at, true);
        break;
      case LIST_END:
      case OBJECT_END:
        depth--;
        break;
      case COLON:
        if (++members > membersMax) return beyond(bounds, at, false);
        break;
      case COMMA:
        if (++values > valuesMax) return beyond(bounds, at, true);
        break;
      default:
    }
  }
  return undefined;
}

function beyond({ containersMax, membersMax, valuesMax }: JsonBounds, at: number, isOfLists: boolean): JsonFault {
  const words = `may hold at most ${containersMax} lists and objects, ${membersMax} members and ${valuesMax} values`;
  return { words, at, isOfLists };
}

/** So many bytes are looked at before a native search, which costs as much as a few dozen. */
const NEAR_BYTES = 32;

/** The closing quote of the string that begins before `from`; the end or later if none. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length) {
    for (const near = Math.min(at + NEAR_BYTES, bytes.length); at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    // A quote behind an odd number of backslashes belongs to the string.
    let escape = quote;
    while (escape > at && bytes[escape - 1] === BACKSLASH) escape--;
    if ((quote - escape) % 2 === 0) return quote;
    at = quote + 1;
  }
  return at;
}

export type JsonBody = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** The members of a JSON object, with values not yet validated. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** The request fields that `readJsonBody` reads. */
export const JSON_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

const JSON_TYPE = 'application/json';

/** What is wrong with a body before it is read: its media type, its coding, its size. */
export function bodyFault(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, type: string): string | undefined {
  const given = headers['content-type'];
  if (given !== type && given?.split(';', 1)[0]!.trim().toLowerCase() !== type) return `Content-Type: must be ${type}.`;
  if (headers['content-encoding'] !== undefined) return 'Content-Encoding: is not supported; send the body as it is.';
  return body === 'too_large' ? `body: may be at most ${bytesMax} bytes long.` : undefined;
}

/**
 * How to refuse a body with far too many values, if they are a list's: `names` are the body's
 * members, `member` the list's, `undefined` for the body. `undefined`: in general words.
 */
export type TooManyValues = (names: readonly string[], member: string | undefined) => Refusal | undefined;

export function readJsonBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, tooMany?: TooManyValues): JsonBody {
  const headFault = bodyFault(headers, body, bytesMax, JSON_TYPE);
  if (headFault !== undefined) return no(headFault);
  if (typeof body === 'string' || body.length === 0) return no('body: must be a JSON object; it is empty.');
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  const text = utf8Text(bytes);
  if (text === undefined) return no('body: must be valid UTF-8.');
  const fault = jsonFault(bytes);
  if (fault !== undefined) {
    const { names, member } = membersIn(bytes, fault.at);
    const refusal = fault.isOfLists ? tooMany?.(names, member) : undefined;
    return refusal === undefined ? no(`body: ${fault.words}.`) : { kind: 'refused', refusal };
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

/** Longer names are cut, and further ones left out. */
const NAME_BYTES_MAX = 128;
const NAMES_MAX = 100;

/** The members' names as written, without parsing, and the one whose value is at `here`. */
function membersIn(bytes: Buffer, here: number): { readonly names: readonly string[]; readonly member: string | undefined } {
  const names: string[] = [];
  let [depth, string] = [0, ''];
  let member: string | undefined;
  for (let at = 0; at < bytes.length && names.length < NAMES_MAX; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const end = endOfString(bytes, at + 1);
      if (depth === 1) string = bytes.toString('utf8', at + 1, Math.min(end, at + NAME_BYTES_MAX));
      at = end;
    } else if (byte === COLON && depth === 1) {
      names.push(string);
      if (at < here) member = string;
    } else if (byte === LIST || byte === OBJECT) depth++;
    else if (byte === LIST_END || byte === OBJECT_END) depth--;
  }
  return { names, member };
}

const WORD_LENGTH_SHOWN = 40;
const WORDS_SHOWN = 3;

/** One word: unprintable characters are replaced, and long words truncated. */
export function shownWord(word: string): string {
  // Truncated first, because a member's name can be as long as the whole body.
  const cut = word.slice(0, WORD_LENGTH_SHOWN).toWellFormed();
  const clean = cut.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?');
  return word.length > WORD_LENGTH_SHOWN ? `${clean}…` : clean;
}

/** The first few names that are not accepted; `undefined` if all are. */
export function unknownAmong(names: readonly string[], accepted: ReadonlySet<string>): string | undefined {
  const unknown = names.filter((name) => !accepted.has(name));
  if (unknown.length === 0) return undefined;
  const more = unknown.length > WORDS_SHOWN ? ` and ${unknown.length - WORDS_SHOWN} more` : '';
  return unknown.slice(0, WORDS_SHOWN).map(shownWord).join(', ') + more;
}
