// Bounds the cost of parsing JSON: depth and counts, determined in one pass over the bytes before parsing.

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

export const TOO_DEEP = `may be nested at most ${DEPTH_MAX} levels deep`;
const TOO_MANY = `may hold at most ${CONTAINERS_MAX} lists and objects, ${MEMBERS_MAX} members and ${VALUES_MAX} values`;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const LIST = 0x5b;
const BACKSLASH = 0x5c;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/** What is wrong with it apart from syntax; `undefined` if it may be parsed. `text` is the decoded body. */
export function jsonFault(bytes: Uint8Array, text: string): string | undefined {
  // Nearly every request returns here: native searches instead of a loop.
  if (bytes.length <= SHORT && !hasOpenings(text, DEPTH_MAX)) return undefined;
  return scanned(bytes);
}

/** Whether it contains more than `max` opening brackets and braces, including those within strings. */
function hasOpenings(text: string, max: number): boolean {
  let left = max;
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1)) if (--left < 0) return true;
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1)) if (--left < 0) return true;
  return false;
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
 * Whether the member of that name of the outermost object is a list of more than `max` entries. One extra pass, only for bodies
 * that `jsonFault` rejects.
 */
export function listsMore(bytes: Uint8Array, name: string, max: number): boolean {
  const quoted = Buffer.from(JSON.stringify(name));
  let depth = 0;
  let isNamed = false;
  let entries = 0;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]!) {
      case QUOTE: {
        const from = at;
        at = endOfString(bytes, at + 1);
        if (depth === 1) isNamed = at + 1 - from === quoted.length && quoted.equals(bytes.subarray(from, at + 1));
        break;
      }
      case LIST:
        if (++depth === 1) return false;
        if (depth === 2 && isNamed) entries = 1;
        break;
      case OBJECT:
        depth++;
        break;
      case LIST_END:
      case OBJECT_END:
        if (--depth === 1) entries = 0;
        break;
      case COMMA:
        if (depth === 2 && entries > 0 && ++entries > max) return true;
        break;
      default:
    }
  }
  return false;
}

/** Whether the body itself is a list of more than `max` entries. Also only for bodies that `jsonFault` rejects. */
export function isListOfMore(bytes: Uint8Array, max: number): boolean {
  let depth = 0;
  let entries = 1;
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]!) {
      case QUOTE:
        at = endOfString(bytes, at + 1);
        break;
      case LIST:
        depth++;
        break;
      case OBJECT:
        if (++depth === 1) return false;
        break;
      case LIST_END:
      case OBJECT_END:
        depth--;
        break;
      case COMMA:
        if (depth === 1 && ++entries > max) return true;
        break;
      default:
    }
  }
  return false;
}

/** Longer names are truncated. */
const NAME_BYTES_MAX = 128;

/** The member names of the outermost object, up to the limit on members. One extra pass, only for bodies that `jsonFault` rejects. */
export function outermostNames(bytes: Uint8Array): readonly string[] {
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
