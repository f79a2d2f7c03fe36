// Which paths every server reads in the same way, and so may be forwarded as they are.

/** Segments of the characters that RFC 3986 allows in them, none of them empty. */
const SEGMENTS = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/;
/** `.`, `..` and nothing, also with parameters (`..;x`), which some servers drop. */
const DOT_SEGMENT = /\/(?:\.{1,2}(?:;[^/]*)?|;[^/]*)?(?:\/|$)/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/**
 * Escapes of what could not be written plainly: dots, slashes, backslashes, control characters, and the bytes that begin a
 * UTF-8 sequence which is longer than it need be, by which each of these can be written too.
 */
const BAD_ESCAPE = /%(?:2[ef]|5c|[01][0-9a-f]|7f|c[01]|e0%[89][0-9a-f]|f0%8[0-9a-f]|f[89a-f]%[89ab][0-9a-f])/i;
const ASCII_ESCAPE = /%[2-7][0-9a-f]/gi;
/** Nobody who means well escapes escapes more often. */
const DECODINGS_MAX = 4;

/** Whether no one could resolve the path to another one, however often it is decoded on its way. */
export function isPlainPath(path: string): boolean {
  if (!SEGMENTS.test(path) || DOT_SEGMENT.test(path) || BROKEN_ESCAPE.test(path)) return false;
  let decoded = path;
  for (let times = 0; times < DECODINGS_MAX; times++) {
    if (BAD_ESCAPE.test(decoded)) return false;
    const next = decoded.replace(ASCII_ESCAPE, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    if (next === decoded) return true;
    // An escaped semicolon behind dots.
    if (DOT_SEGMENT.test(next)) return false;
    decoded = next;
  }
  return false;
}
