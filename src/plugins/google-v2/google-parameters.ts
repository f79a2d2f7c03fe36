// The parameters of this API, judged: Google's names and words, our rules and limits.
import { countCharacters, refuse, unknownAmong } from 'lingate';
import type { ListLimit, Refusal } from 'lingate';
import type { Texts } from '../facades/in-pieces.ts';
import type { Judged, Members } from '../facades/members.ts';
import { required } from './google-errors.ts';

/** As many as Google takes. */
export const TEXTS_MAX = 128;
/** Also for a list in a body that holds too much to count it. */
export const TEXTS_LIMIT: ListLimit = {
  name: 'q',
  entriesMax: TEXTS_MAX,
  refusal: refuse('too_many_texts', `Too many text segments: at most ${TEXTS_MAX} are allowed in a request.`, { max_texts: TEXTS_MAX }),
};

/**
 * What each of Google's APIs takes and its clients send, for credentials, for accounts and for the form of the answer. None of
 * it changes a translation, and a key is never taken from here; `callback`, which asks for a script, is not among them.
 */
const STANDARD = [
  'key',
  'access_token',
  'oauth_token',
  'alt',
  '$alt',
  'prettyPrint',
  '$prettyPrint',
  'fields',
  '$fields',
  'quotaUser',
  'userIp',
  'userProject',
  'uploadType',
  'upload_protocol',
  '$.xgafv',
] as const;

/** Translations have been made by one model since both names mean the same. */
const MODELS = ['nmt', 'base'];

/** A parameter's value; `undefined` where it is absent, empty or null. */
export function chosen(members: Members, name: string): unknown {
  const value = members.get(name);
  return value === '' || value === null ? undefined : value;
}

/** Refuses what an operation does not know: a translation, or a list, would be another than was asked for. */
export function unknownOf(members: Members, known: readonly string[]): Refusal | undefined {
  const unknown = unknownAmong([...members.keys()], new Set([...STANDARD, ...known]));
  if (unknown !== undefined) return refuse('validation_error', `Unknown name: ${unknown}. Accepted are ${known.join(', ')}.`);
  const alt = chosen(members, 'alt') ?? chosen(members, '$alt') ?? 'json';
  return typeof alt === 'string' && alt.toLowerCase() === 'json' ? undefined : refuse('validation_error', 'alt: answers are json only.');
}

/** One text, or several. */
export function textsOf(members: Members): Judged<Texts> {
  const q = chosen(members, 'q');
  const entries: readonly unknown[] = Array.isArray(q) ? q : q === undefined ? [] : [q];
  if (entries.length > TEXTS_MAX) return TEXTS_LIMIT.refusal;
  let characters = 0;
  for (const entry of entries) {
    if (typeof entry !== 'string') return refuse('validation_error', 'q: must be a string, or a list of strings.');
    if (!entry.isWellFormed()) return refuse('validation_error', 'q: holds half of a surrogate pair, which is no character.');
    characters += countCharacters(entry);
  }
  const sound = entries as readonly string[];
  const text = sound.filter((entry) => entry !== '');
  // Empty ones among others are answered without the engine, but something has to be left for it.
  return text.length === 0
    ? required('Required Text: q must hold at least one text that is not empty.')
    : { sound: { entries: sound, text, characters } };
}

/** Checked, so that a mistake is found; without effect. */
export function modelFault(members: Members): Refusal | undefined {
  const model = chosen(members, 'model');
  if (model === undefined || (typeof model === 'string' && MODELS.includes(model))) return undefined;
  return refuse('validation_error', `model: must be one of ${MODELS.join(', ')}.`);
}
