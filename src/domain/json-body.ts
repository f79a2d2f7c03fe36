// From bytes to a JSON value: media type, content coding, size, UTF-8, depth and counts, and syntax, in this order.
import { isAscii, isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { isListOfMore, jsonFault, listsMore, outermostNames, TOO_DEEP } from './json-cost.ts';

export type JsonBody = { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'refused'; readonly refusal: Refusal };

/** How a list that is too long is refused in a body that holds too much to be looked into. */
export interface ListLimit {
  /** Of the member; `undefined` where the body itself is the list. */
  readonly name: string | undefined;
  readonly entriesMax: number;
  readonly refusal: Refusal;
  /** What is refused before it, by the names of the body's members. */
  readonly namesRefusal?: (names: readonly string[]) => Refusal | undefined;
}

/** The members of a JSON object: nothing is known of their values yet. */
export type JsonMembers = Readonly<Record<string, unknown>>;

/** The request fields that `readJsonBody` looks at. */
export const JSON_BODY_HEADERS = ['content-type', 'content-encoding'] as const;

export function readJsonBody(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number, limit?: ListLimit): JsonBody {
  const type = headers['content-type'];
  if (type !== 'application/json' && !isJsonType(type)) return no('Content-Type: must be application/json.');
  if (headers['content-encoding'] !== undefined) return no('Content-Encoding: is not supported; send the body as it is.');
  if (body === 'too_large') return no(`body: may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return no('body: must be a JSON object; it is empty.');
  const text = textOf(body);
  if (text === undefined) return no('body: must be valid UTF-8.');
  const fault = jsonFault(body, text);
  if (fault !== undefined) {
    // What is nested too deep is refused as JSON, before any list in it is judged.
    const isList = limit !== undefined && fault !== TOO_DEEP && hasMore(body, limit);
    if (!isList) return no(`body: ${fault}.`);
    return { kind: 'refused', refusal: limit.namesRefusal?.(outermostNames(body)) ?? limit.refusal };
  }
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown };
  } catch {
    return no('body: must be well-formed JSON.');
  }
}

function hasMore(body: Uint8Array, { name, entriesMax }: ListLimit): boolean {
  return name === undefined ? isListOfMore(body, entriesMax) : listsMore(body, name, entriesMax);
}

/** Checked first: decoding would silently turn bad bytes into U+FFFD, and other characters than were sent would be charged. */
function textOf(body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // Most bodies are ASCII: latin1 gives the same text in half the time.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function isJsonType(type: string | undefined): boolean {
  return type !== undefined && type.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
}

function no(detail: string): JsonBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}
