// Detects paths that every server interprets the same way, and that are therefore safe to forward unchanged.

/** Non-empty segments of the characters that RFC 3986 allows in them. */
const SEGMENTS = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/;
/** `.`, `..` and empty segments, also with parameters (`..;x`), which some servers strip. */
const DOT_SEGMENT = /\/(?:\.{1,2}(?:;[^/]*)?|;[^/]*)?(?:\/|$)/;
const BROKEN_ESCAPE = /%(?![0-9A-Fa-f]{2})/;
/**
 * Escapes that can be misread: dots, slashes, backslashes, control characters, and the first bytes of overlong UTF-8 sequences,
 * which can encode any of these.
 */
const BAD_ESCAPE = /%(?:2[ef]|5c|[01][0-9a-f]|7f|c[01]|e0%[89][0-9a-f]|f0%8[0-9a-f]|f[89a-f]%[89ab][0-9a-f])/i;
const ASCII_ESCAPE = /%[2-7][0-9a-f]/gi;
/** No legitimate path is escaped more often. */
const DECODINGS_MAX = 4;

/** Whether the path keeps its meaning, however often it is decoded on its way. */
export function isPlainPath(path: string): boolean {
  if (!SEGMENTS.test(path) || DOT_SEGMENT.test(path) || BROKEN_ESCAPE.test(path)) return false;
  let decoded = path;
  for (let times = 0; times < DECODINGS_MAX; times++) {
    if (BAD_ESCAPE.test(decoded)) return false;
    const next = decoded.replace(ASCII_ESCAPE, (escape) => String.fromCharCode(Number.parseInt(escape.slice(1), 16)));
    if (next === decoded) return true;
    // An escaped semicolon after dots.
    if (DOT_SEGMENT.test(next)) return false;
    decoded = next;
  }
  return false;
}
