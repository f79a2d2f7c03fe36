// An engine that reveals secrets in every kind of wrong answer, and in some that are right.
import { act } from '../../support/door/contracts.ts';
import { answer, CANARY, status } from '../../../src/testing.ts';
import type { Act, Behaviour, NamedBehaviour } from '../../../src/testing/scripted-behaviours.ts';

const NAMED: readonly NamedBehaviour[] = [
  ...(['not_json', 'bad_utf8', 'empty', 'not_an_object', 'no_translations', 'one_too_few', 'one_too_many', 'text_not_string'] as const),
  ...(['entry_not_object', 'detected_not_string', 'hang', 'hang_after_headers', 'drip', 'reset', 'reset_after_headers', 'close'] as const),
  ...(['truncate', 'partial_eof', 'garbage', 'huge', 'huge_headers', 'redirect'] as const),
];

/** By name: an attempt with such an answer is unusable. */
export const UNUSABLE: Readonly<Record<string, Behaviour>> = {
  ...Object.fromEntries(NAMED.map((name) => [name, name])),
  status_500: status(500),
  status_418: status(418),
  status_204: status(204, ''),
  // Like engines that quote what they could not translate.
  quoting: (asked, response) => void response.writeHead(422, CANARY).end(JSON.stringify({ message: `${CANARY}: ${asked.body}` })),
};

/** These do translate; what they add must not be shown. */
export const ANSWERING: Readonly<Record<string, Act>> = {
  chatty: answer(JSON.stringify({ translations: [{ text: 'ok', note: CANARY }], message: CANARY })),
  odd_language: answer(JSON.stringify({ translations: [{ text: 'ok', detected_source_language: CANARY }] })),
};

/** The beginning of a text that makes the engine behave like this. */
export function asking(behaviour: string): string {
  return `behave:${behaviour};`;
}

export const leakyEngine: Act = (asked, response) => {
  const name = /behave:(\w+);/.exec(asked.body)?.[1] ?? '';
  act(UNUSABLE[name] ?? ANSWERING[name] ?? 'ok', asked, response, response.socket!);
};
