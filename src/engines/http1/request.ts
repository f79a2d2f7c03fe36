// Serializes a call as an HTTP/1.1 request.
import type { EngineCall } from '../../ports/engine.ts';

/** Fields that an adapter may send: not those of framing or the connection, nor `Expect`, which requests an interim answer. */
const NAME =
  /^(?!(?:host|connection|keep-alive|proxy-connection|transfer-encoding|content-length|te|trailer|upgrade|expect|accept-encoding)$)[\w!#$%&'*+.^`|~-]+$/i;
const VALUE = /^[\t\x20-\x7e]*$/;
const ID_FIELD = 'x-request-id';

/** Whether an operator may add a field of this name to every request. */
export function isFieldName(name: string): boolean {
  return NAME.test(name) && !/^(?:content-type|x-request-id|traceparent)$/i.test(name);
}

/** No white space and only ASCII: a line break would inject further header lines. */
const PATH = /^\/[\x21-\x7e]*$/;

/** The lines common to all calls. */
export function fixedLines(
  host: string,
  fields: Readonly<Record<string, string>> = {},
): { readonly reused: string; readonly fresh: string } {
  const more = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const lines = `Host: ${host}\r\nAccept-Encoding: identity\r\n${more.join('')}Connection: `;
  return { reused: `${lines}keep-alive\r\n`, fresh: `${lines}close\r\n` };
}

/** A serialized request. */
export interface RequestText {
  /** Its `X-Request-Id`, used to match the answer; empty for none. */
  readonly id: string;
  readonly text: string;
  /** `latin1` produces the same bytes as UTF-8 would, in half the time. */
  readonly encoding: 'latin1' | 'utf8';
  /** Of the body, pieces included; 0 without one. */
  readonly bodyBytes: number;
  /** Bytes to send after `text`. */
  readonly pieces: readonly Uint8Array[] | undefined;
  /** Of the call. */
  readonly answerBytesMax?: number | undefined;
}

/**
 * Omits fields whose lower-case names are in `taken`, and sends `id` instead of any id that the adapter sets. `undefined` for
 * an invalid call, which is the adapter's fault.
 */
export function requestText(
  { method, path, headers, body, pieces, answerBytesMax }: EngineCall,
  basePath: string,
  lines: string,
  taken: readonly string[] = [],
  id = '',
): RequestText | undefined {
  const target = basePath + path;
  if (!PATH.test(target)) return undefined;
  let text = `${method} ${target} HTTP/1.1\r\n${lines}`;
  if (id !== '') text += `${ID_FIELD}: ${id}\r\n`;
  for (const name of Object.keys(headers)) {
    const lower = name.toLowerCase();
    if ((id !== '' && lower === ID_FIELD) || taken.includes(lower)) continue;
    const value = headers[name]!;
    if (!NAME.test(name) || !VALUE.test(value)) return undefined;
    text += `${name}: ${value}\r\n`;
  }
  if (body !== undefined) {
    const bytes = Buffer.byteLength(body);
    // As many bytes as characters means that all are ASCII.
    const encoding = bytes === body.length ? 'latin1' : 'utf8';
    return { id, text: `${text}Content-Length: ${bytes}\r\n\r\n${body}`, encoding, bodyBytes: bytes, pieces: undefined, answerBytesMax };
  }
  if (pieces !== undefined) {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    return { id, text: `${text}Content-Length: ${bytes}\r\n\r\n`, encoding: 'latin1', bodyBytes: bytes, pieces, answerBytesMax };
  }
  if (method === 'POST') text += 'Content-Length: 0\r\n';
  return { id, text: `${text}\r\n`, encoding: 'latin1', bodyBytes: 0, pieces: undefined, answerBytesMax };
}
