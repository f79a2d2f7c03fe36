// Parses a JSON body: media type, content coding, size, UTF-8, depth and counts, and syntax, in this order.
import { isAscii, isUtf8 } from 'node:buffer';
import type { Body } from '../core/exchange.ts';
import { refuse } from '../core/problem.ts';
import type { Refusal } from '../core/outcome.ts';
import { isListOfMore, jsonFault, listsMore, outermostNames, TOO_DEEP } from './json-cost.ts';

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
    // Excessive nesting is reported first, before any list in the body.
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

/** Validated first: decoding would silently replace bad bytes by U+FFFD, and other characters than those sent would be charged. */
function textOf(body: Uint8Array): string | undefined {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // Most bodies are ASCII, for which latin1 gives the same text in half the time.
  if (isAscii(bytes)) return bytes.toString('latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

function isJsonType(type: string | undefined): boolean {
  return type !== undefined && type.split(';', 1)[0]!.trim().toLowerCase() === 'application/json';
}

function no(detail: string): JsonBody {
  return { kind: 'refused', refusal: refuse('validation_error', detail) };
}
