// A caller's own words in errors: names of members, never values; and the refusal of a value that its schema refuses and for which no
// rule has better words.
import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { Errors } from './typebox.ts';

const WORD_LENGTH_SHOWN = 40;
const WORDS_SHOWN = 3;

/** One word: unprintable characters are replaced, and long words truncated. */
export function shownWord(word: string): string {
  // Truncated first, because a member's name can be as long as the whole body.
  const cut = word.slice(0, WORD_LENGTH_SHOWN).toWellFormed();
  const clean = cut.replaceAll(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, '?');
  return word.length > WORD_LENGTH_SHOWN ? `${clean}…` : clean;
}

/** The first few members that are not accepted; `undefined` if all are. */
export function unknownMembers(members: object, accepted: ReadonlySet<string>): string | undefined {
  return unknownAmong(Object.keys(members), accepted);
}

/** The same for a list of names. */
export function unknownAmong(names: readonly string[], accepted: ReadonlySet<string>): string | undefined {
  const unknown = names.filter((name) => !accepted.has(name));
  if (unknown.length === 0) return undefined;
  const more = unknown.length > WORDS_SHOWN ? ` and ${unknown.length - WORDS_SHOWN} more` : '';
  return unknown.slice(0, WORDS_SHOWN).map(shownWord).join(', ') + more;
}

/** For a value for which `Check` is false. */
export function schemaRefusal(schema: TSchema, value: unknown): Refusal {
  const errors = Errors(schema, value);
  const [first] = errors;
  if (first === undefined) return refuse('validation_error', 'body: is not valid.');
  // A list of values says more than their type does, which is reported before it.
  const listed = errors.find(({ keyword, instancePath }) => keyword === 'enum' && instancePath === first.instancePath);
  return refuse('validation_error', faultOf(listed ?? first));
}

function faultOf(error: TLocalizedValidationError): string {
  const place = placeIn(error.instancePath);
  if (error.keyword === 'required') return `${join(place, error.params.requiredProperties[0] ?? '')}: is required.`;
  if (error.keyword === 'enum') return `${place}: must be one of ${error.params.allowedValues.join(', ')}.`;
  // Without the schema's own name for "there must be no such member".
  if (error.keyword === 'boolean') return `${place}: is not accepted.`;
  return `${place === '' ? 'body' : place}: ${error.message}.`;
}

/** `/text/1` as `text[1]`. */
function placeIn(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .reduce((place, part) => (/^\d+$/.test(part) ? `${place}[${part}]` : join(place, shownWord(part))), '');
}

function join(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`;
}
