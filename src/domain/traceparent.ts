// W3C Trace Context: which `traceparent` values are worth passing on.

const PATTERN = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The value itself when it is valid (version 00's shape, no all-zero ids), otherwise `undefined`. */
export function validTraceparent(value: string | undefined): string | undefined {
  return value !== undefined && PATTERN.test(value) ? value : undefined;
}
