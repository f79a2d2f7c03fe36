// Bounds on JSON from outside, of callers and engines alike: depth and counts are determined in one pass over the bytes before the
// text is parsed, because they decide what parsing costs.
import { isAscii, isUtf8 } from 'node:buffer';

/** Limits on the content of a JSON text, besides its depth. Text within strings costs next to nothing, however long. */
export interface JsonBounds {
  /** Lists and objects. */
  readonly containersMax: number;
  readonly membersMax: number;
  /** Entries of lists and members of objects together, without the first of each. */
  readonly valuesMax: number;
}

/** Deeper nesting makes `JSON.parse` several times slower per byte, and no valid body is nested deeper than five levels. */
const DEPTH_MAX = 64;
export const MEMBERS_MAX = 10_000;
/**
 * Each is at least twice what the largest valid request or answer needs, and costs the parser about ten milliseconds: a glossary
 * has 5,000 members, a list of dictionaries 100 objects, a translation 50 texts.
 */
const USUAL: JsonBounds = { containersMax: 5_000, membersMax: MEMBERS_MAX, valuesMax: 10_000 };
/** Shorter texts always parse within two milliseconds: only their depth is checked. */
const SHORT = 16_384;
/** A shorter text that closes what it opens cannot be too deep, and the parser is done with any other within microseconds. */
const TOO_DEEP_BYTES_MIN = 2 * (DEPTH_MAX + 1);

export const TOO_DEEP = `may be nested at most ${DEPTH_MAX} levels deep`;

// The bytes that structure a JSON text.
export const QUOTE = 0x22;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const LIST = 0x5b;
const BACKSLASH = 0x5c;
export const LIST_END = 0x5d;
export const OBJECT = 0x7b;
export const OBJECT_END = 0x7d;

/** What is wrong with it apart from syntax; `undefined` if it may be parsed. `text` is what the bytes say. */
export function jsonFault(bytes: Uint8Array, text: string, bounds: JsonBounds = USUAL): string | undefined {
  if (bytes.length < TOO_DEEP_BYTES_MIN) return undefined;
  if (bytes.length > SHORT) return scanned(bytes, bounds);
  // Nearly every text is short and has few brackets, even with those in strings: native searches instead of a loop.
  let left = DEPTH_MAX;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (--left < 0) return scanned(bytes, bounds);
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (--left < 0) return scanned(bytes, bounds);
  return undefined;
}

/** A Node buffer, without Node's types, which readers of our declarations may not have. */
interface Bytes extends Uint8Array {
  toString(encoding?: 'latin1' | 'utf8'): string;
}

/**
 * Decodes UTF-8; `undefined` if the bytes are none. Validated, because decoding would silently replace bad bytes by U+FFFD, and
 * other characters than those sent would be charged or delivered.
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
  if (jsonFault(bytes, text, bounds) !== undefined) return 'too_large';
  try {
    return { value: JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text) as unknown };
  } catch {
    return 'not_json';
  }
}

/** Stops at the first fault. It may count malformed JSON differently from a parser, but that is rejected either way. */
function scanned(bytes: Uint8Array, { containersMax, membersMax, valuesMax }: JsonBounds): string | undefined {
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
        if (++containers > containersMax) return tooMany({ containersMax, membersMax, valuesMax });
        break;
      case LIST_END:
      case OBJECT_END:
        depth--;
        break;
      case COLON:
        if (++members > membersMax) return tooMany({ containersMax, membersMax, valuesMax });
        break;
      case COMMA:
        if (++values > valuesMax) return tooMany({ containersMax, membersMax, valuesMax });
        break;
      default:
    }
  }
  return undefined;
}

function tooMany({ containersMax, membersMax, valuesMax }: JsonBounds): string {
  return `may hold at most ${containersMax} lists and objects, ${membersMax} members and ${valuesMax} values`;
}

/** So many bytes are looked at one by one before a native search, which costs as much as a few dozen of them. */
const NEAR_BYTES = 32;

/** Position of the closing quote of the string that begins before `from`; the end of the input or later if there is none. */
export function endOfString(bytes: Uint8Array, from: number): number {
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
