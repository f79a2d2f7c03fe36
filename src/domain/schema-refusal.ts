// The refusal of a value that its schema refuses and for which no rule has better words: names the member and what would be right.
import type { TSchema } from 'typebox';
import type { TLocalizedValidationError } from 'typebox/error';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { shownWord } from './caller-words.ts';
import { Errors } from './typebox.ts';

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
