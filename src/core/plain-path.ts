// Which paths every server reads in the same way, and so may be forwarded as they are.

/** Segments of the characters that RFC 3986 allows in them, none of them empty. */
const SEGMENTS = /^(?:\/[A-Za-z0-9\-._~!$&'()*+,;=:@%]+)+$/;
/** `.` and `..`, and both with parameters (`..;x`), which some servers read as the same. */
const DOT_SEGMENT = /\/\.{1,2}(?:;[^/]*)?(?:\/|$)/;
/**
 * Escapes that are none, or stand for what could not be written plainly: dots, slashes, backslashes, control characters,
 * also escaped twice, and the bytes C0 and C1, by which each of these can be written too long.
 */
const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})|%(?:25)*(?:2[ef]|5c|[01][0-9a-f]|7f|c[01])/i;

/** Whether no one could resolve the path to another one. */
export function isPlainPath(path: string): boolean {
  return SEGMENTS.test(path) && !DOT_SEGMENT.test(path) && !BAD_ESCAPE.test(path);
}
