// Common to all requests of this API: problems in DeepL's format, the first steps, and the
// parameters: strings in forms, any type in JSON.
import { countCharacters, GLOSSARY_MISMATCH, KEY_MALFORMED, KEY_MISPLACED, KEY_MISSING, refuse, tagSlot } from 'lingate';
import type { Exchange, GatewayServices, HeadStep, Problem, ProblemForm, Refusal, TooManyValues } from 'lingate';
import { readMembers } from '../facades/members.ts';
import type { Members } from '../facades/members.ts';
import type { Judged } from '../facades/parameters.ts';

const BY_CODE: Readonly<Record<string, number>> = {
  too_many_texts: 413,
  text_too_long: 413,
  // Clients try a download again after it.
  document_not_ready: 503,
  document_failed: 400,
};
const BY_STATUS: Readonly<Record<number, number>> = { 401: 403, 402: 456 };

/** Cases of `validation_error` for which DeepL has another status. */
const BY_PROBLEM = new WeakMap<Problem, number>();

/** Messages for which clients search, and this API's way to send a key. */
const DETAILS = new WeakMap<Problem, string>([
  [GLOSSARY_MISMATCH.problem, 'No dictionary found for language pair.'],
  [KEY_MISSING.problem, 'No API key was sent. Send it as "Authorization: DeepL-Auth-Key <key>".'],
  [KEY_MISPLACED.problem, 'The API key belongs in "Authorization: DeepL-Auth-Key <key>", not in the query, X-API-Key or api-key.'],
  [
    KEY_MALFORMED.problem,
    'The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "Authorization: DeepL-Auth-Key <key>".',
  ],
]);

export const PROBLEM_FORM: ProblemForm = {
  contentType: 'application/problem+json',
  status: (problem) => {
    const { status } = problem.kind;
    return BY_PROBLEM.get(problem) ?? BY_CODE[problem.code] ?? BY_STATUS[status] ?? status;
  },
  body(problem, document) {
    const detail = DETAILS.get(problem) ?? problem.detail;
    // Clients show both, so the same words twice would look odd. Some show only the message.
    const message = problem.code === 'too_many_texts' ? `${document.title}: at most ${Number(document['max_texts'])}` : document.title;
    return JSON.stringify({ ...document, status: PROBLEM_FORM.status(problem), detail, message });
  },
};

/** For what is too large, in words of its own. */
function tooLarge(detail: string): Refusal {
  const refusal = refuse('validation_error', detail);
  BY_PROBLEM.set(refusal.problem, 413);
  return refusal;
}

/** Access log, id for support, tag, load shedding, identification, the team's load shedding. */
export const AUTHENTICATED = ['access-log', 'deepl-trace-id', 'deepl-tag', 'shed', 'identify', 'authenticate', 'team-shed'] as const;

/** The tag under which the request is counted. */
const TAG_FIELD = 'X-DeepL-Reporting-Tag';
const TAG_HEADER = TAG_FIELD.toLowerCase();

/** Keeps it for the admission. */
export function tagStep(): HeadStep {
  return {
    kind: 'head',
    name: 'deepl-tag',
    headers: [TAG_HEADER],
    run(x) {
      const text = x.head.headers[TAG_HEADER];
      if (text !== undefined) x.set(tagSlot, { text, field: TAG_FIELD });
      return undefined;
    },
  };
}

/** Of a JSON object or a form. */
export function membersOf({ body, head }: Exchange, { bodyBytesMax }: GatewayServices, tooMany?: TooManyValues): Judged<Members> {
  return body === 'too_large'
    ? tooLarge(`body: may be at most ${bodyBytesMax} bytes long.`)
    : readMembers(head.headers, body, bodyBytesMax, tooMany);
}

/** Longer than any valid word. */
const WORD_LENGTH_MAX = 64;
/** In one parameter, including empty ones. */
const NAMES_MAX = 1000;

export function flag(value: unknown, name: string): Judged<boolean> {
  if (value === true || value === 1 || value === '1' || value === 'true') return true;
  if (value === false || value === 0 || value === '0' || value === 'false') return false;
  return refuse('validation_error', `Value for '${name}' not supported: it is 0 or 1.`);
}

export function oneOf<Word extends string>(value: unknown, name: string, words: readonly Word[]): Judged<Word> {
  // JSON's forms of 0 and 1 are accepted too.
  const word = typeof value === 'boolean' ? String(Number(value)) : typeof value === 'number' ? String(value) : value;
  const lower = typeof word === 'string' && word.length <= WORD_LENGTH_MAX ? word.toLowerCase() : undefined;
  return (
    words.find((one) => one === lower) ?? refuse('validation_error', `Value for '${name}' not supported: it is one of ${words.join(', ')}.`)
  );
}

/** A text of limited length. */
export function textOf(value: unknown, name: string, charactersMax = Infinity): Judged<string> {
  if (typeof value !== 'string') return refuse('validation_error', `'${name}' must be a string, given once.`);
  if (!value.isWellFormed()) return refuse('validation_error', `'${name}' has half of a surrogate pair.`);
  if (value.length > charactersMax && countCharacters(value) > charactersMax) {
    return refuse('validation_error', `'${name}' may be at most ${charactersMax} characters long.`);
  }
  return value;
}

/** Names, in a list or separated by commas; `undefined` for none. */
export function namesOf(value: unknown, name: string): Judged<readonly string[] | undefined> {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (!list.every((one) => typeof one === 'string' && one.isWellFormed())) {
    return refuse('validation_error', `'${name}' must be names, separated by commas.`);
  }
  const valid: string[] = [];
  let left = NAMES_MAX;
  for (const joined of list as readonly string[]) {
    // One more than allowed shows it, without a string for each of a million commas.
    const names = joined.split(',', left + 1);
    left -= names.length;
    if (left < 0) return refuse('validation_error', `'${name}' may have at most ${NAMES_MAX} names.`);
    for (const one of names) if (one.trim() !== '') valid.push(one.trim());
  }
  return valid.length === 0 ? undefined : valid;
}
