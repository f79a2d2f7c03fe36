// Which parameter a 400 is about, read from its detail, for logs: a detail names the parameter in one of a few forms.
import type { Problem } from '../core/problem.ts';

/** A parameter of ours or of another API, a header, or `body`; never long enough for a key. */
const NAME = String.raw`[A-Za-z_][\w.-]{0,39}(?:\[\d{1,5}\])?`;

/** A caller's own word, which must not be in a log. */
const UNKNOWN = /^Unknown (?:query parameter|parameter|name|member)\b/;

/** In order: `'name'` anywhere, as DeepL has it; `missing name parameter`; `name: …`, `name is …`. */
const FORMS = [
  new RegExp(`'(${NAME})'`),
  new RegExp(`missing (${NAME}) parameter`),
  new RegExp(`^(?:Invalid (?:request|Value): )?(${NAME})(?:: | (?:is|must|may|has|parameter) )`),
  new RegExp(`^Bad language pair: (${NAME}) `),
];

/** For the codes that are about one parameter, if the detail does not say it in the words of the API that was called. */
const BY_CODE: Readonly<Record<string, string>> = {
  invalid_target_lang: 'target_lang',
  invalid_source_lang: 'source_lang',
  too_many_texts: 'text',
  text_too_long: 'text',
};

/**
 * In the terms of the API that was called; `undefined` if the problem is about none. Safe in a log: a short name of ours, or
 * `(unknown)` for one that the API does not have.
 */
export function parameterOf({ code, detail }: Pick<Problem, 'code' | 'detail'>): string | undefined {
  if (UNKNOWN.test(detail)) return '(unknown)';
  for (const form of FORMS) {
    const name = form.exec(detail)?.[1];
    if (name !== undefined) return name;
  }
  return BY_CODE[code];
}
