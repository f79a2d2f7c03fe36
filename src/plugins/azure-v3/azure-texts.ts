// The body of a request: a list of objects, each with a text.
import { countCharacters, JSON_BODY_HEADERS, readJsonBody, refuse } from 'lingate';
import type { Body, ListLimit } from 'lingate';
import Type from 'typebox';
import type { Texts } from '../facades/in-pieces.ts';
import type { Judged } from '../facades/members.ts';
import { wrong } from './azure-problem-form.ts';

/** As many as a request to `/v1` may have. */
const TEXTS_MAX = 50;
const TEXTS_LIMIT: ListLimit = {
  name: undefined,
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', `The body may hold at most ${TEXTS_MAX} texts.`, { max_texts: TEXTS_MAX }),
};
const JSON_TYPE = /^\s*application\/json\s*(?:;|$)/i;

const NOT_JSON_TYPE = wrong(415_000, 'Content-Type: must be application/json.');
const ENCODED = wrong(415_000, 'Content-Encoding: is not supported; send the body as it is.');
const NOT_A_LIST = wrong(400_000, 'The body must be a list of objects with a member Text: [{"Text": "…"}].');
const EMPTY = wrong(400_005, 'The body holds no text: it must be like [{"Text": "…"}].');

/** What `readTexts` looks at. */
export const TEXTS_HEADERS = JSON_BODY_HEADERS;

export const TextsBody = Type.Array(
  Type.Object({ Text: Type.String({ description: 'The text. An empty one is answered with an empty one. `text` is understood, too.' }) }),
  { minItems: 1, maxItems: TEXTS_MAX, description: 'The texts.' },
);

export function readTexts(headers: Readonly<Record<string, string>>, body: Body, bytesMax: number): Judged<Texts> {
  if (!JSON_TYPE.test(headers['content-type'] ?? '')) return NOT_JSON_TYPE;
  if (headers['content-encoding'] !== undefined) return ENCODED;
  if (body === 'too_large') return wrong(400_077, `The body may be at most ${bytesMax} bytes long.`);
  if (body === 'none' || body.length === 0) return EMPTY;
  const json = readJsonBody(headers, body, bytesMax, TEXTS_LIMIT);
  if (json.kind === 'value') return textsOf(json.value);
  return json.refusal === TEXTS_LIMIT.refusal ? json.refusal : wrong(400_074, json.refusal.problem.detail);
}

function textsOf(value: unknown): Judged<Texts> {
  if (!Array.isArray(value)) return NOT_A_LIST;
  if (value.length === 0) return EMPTY;
  if (value.length > TEXTS_MAX) return TEXTS_LIMIT.refusal;
  const entries: string[] = [];
  let characters = 0;
  for (const [index, element] of (value as readonly unknown[]).entries()) {
    if (typeof element !== 'object' || element === null) return wrong(400_020, `[${index}]: must be an object with a member Text.`);
    const { Text, text } = element as { readonly Text?: unknown; readonly text?: unknown };
    const entry = Text ?? text;
    if (typeof entry !== 'string') return wrong(400_005, `[${index}].Text: must be a string.`);
    if (!entry.isWellFormed()) return wrong(400_005, `[${index}].Text: holds half of a surrogate pair.`);
    entries.push(entry);
    characters += countCharacters(entry);
  }
  return { sound: { entries, text: entries.filter((entry) => entry !== ''), characters } };
}
