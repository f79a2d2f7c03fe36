// Judges what an adapter returned before anything is charged for it: an attempt of the right form, and one valid translation for
// each text.
import { ATTEMPT_FAILURES } from '../domain/attempt-failure.ts';
import type { Attempt, Translation } from '../ports/engine.ts';

/** An adapter returned what is no attempt: a bug of the adapter. The message is in fixed words. */
export class MalformedAttempt extends Error {
  override readonly name = 'MalformedAttempt';
}

const FAILURES: ReadonlySet<unknown> = new Set(ATTEMPT_FAILURES);

const LETTER = /\p{L}/u;
/** Anything but white space, control, format and unassigned characters and others without ink; the last one is the Braille blank. */
const VISIBLE = /[^\p{Z}\p{C}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Throws a `MalformedAttempt` unless it has the form of an attempt; its translations are not judged yet. */
export function checkForm(attempt: Attempt): void {
  const given: unknown = attempt;
  if (typeof given !== 'object' || given === null) throw new MalformedAttempt('the attempt is not an object');
  const { kind, failure, translations, tokens } = given as { readonly [name in 'kind' | 'failure' | 'translations' | 'tokens']?: unknown };
  if (kind === 'usable') {
    if (!Array.isArray(translations)) throw new MalformedAttempt('translations: is not a list');
  } else if (kind !== 'unusable') {
    throw new MalformedAttempt('kind: is neither usable nor unusable');
  } else if (!FAILURES.has(failure)) {
    throw new MalformedAttempt('failure: is not one of the words for failures');
  }
  if (tokens !== undefined && !areTokens(tokens)) throw new MalformedAttempt('tokens: are not two numbers');
}

function areTokens(tokens: unknown): boolean {
  const { prompt, completion } = (tokens ?? {}) as { readonly prompt?: unknown; readonly completion?: unknown };
  return isCount(prompt) && isCount(completion);
}

function isCount(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value < Infinity;
}

/**
 * What is wrong with the translations of these texts, for which callers are charged: `undefined` if there is one for each text,
 * together at most `unitsMax` long, of well-formed Unicode, and with something to see if its text has letters. Throws a
 * `MalformedAttempt` for translations without a text.
 */
export function translationsFault(
  translations: readonly Translation[],
  text: readonly string[],
  unitsMax: number,
): 'wrong_shape' | 'too_large' | undefined {
  if (translations.length !== text.length) return 'wrong_shape';
  let units = 0;
  for (let i = 0; i < text.length; i++) {
    const translated: unknown = (translations[i] as Translation | undefined | null)?.text;
    if (typeof translated !== 'string') throw new MalformedAttempt('translations: one has no text');
    units += translated.length;
    if (units > unitsMax) return 'too_large';
    if (!translated.isWellFormed()) return 'wrong_shape';
    // Most texts begin with a visible ASCII character, which a comparison detects.
    const first = translated.charCodeAt(0);
    const visible = (first > 0x20 && first < 0x7f) || VISIBLE.test(translated);
    if (!visible && LETTER.test(text[i]!)) return 'wrong_shape';
  }
  return undefined;
}
