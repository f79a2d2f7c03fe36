// Lingate's own engine protocol: one POST with all texts, one answer with all translations.
import { NOTHING_CHOSEN, OPTION_NAMES, TRANSLATION_OPTIONS } from '../../domain/translation-options.ts';
import type { Attempt, AttemptFailure, EngineProtocol, EngineResponse, EngineWork } from '../../ports/engine.ts';
import { headersOf } from './json-request.ts';
import { jsonObjectOf, translationsOf, unusable } from './json-response.ts';

/** Each option, what comes before its value in the body, and the value that is not sent. */
const MEMBERS = TRANSLATION_OPTIONS.map((option) => {
  const unsaid: unknown = option === 'targetLang' ? undefined : NOTHING_CHOSEN[option];
  return { option, opening: `,${JSON.stringify(OPTION_NAMES[option])}:`, unsaid };
});

export const nativeProtocol: EngineProtocol = {
  // Whatever a caller can ask for stands in the body: the engine behind it is one's own.
  can: { formats: ['text', 'html', 'xml'] },
  // Not async: a request's way through the engine is hot, and that would cost it another promise.
  attempt(work, wire) {
    return wire
      .call({ method: 'POST', path: '/translate', headers: headersOf(work), body: bodyOf(work) })
      .then((response) => judgeResponse(response, work.text.length));
  },
};

function judgeResponse(response: EngineResponse | AttemptFailure, texts: number): Attempt {
  if (typeof response === 'string') return unusable(response);
  const answer = jsonObjectOf(response);
  if (typeof answer === 'string') return unusable(answer);
  const translations = translationsOf(answer, texts);
  return translations === undefined ? unusable('wrong_shape') : { kind: 'usable', translations };
}

function bodyOf({ text, options }: EngineWork): string {
  let body = `{"text":${JSON.stringify(text)}`;
  for (const { option, opening, unsaid } of MEMBERS) {
    const value = options[option];
    if (value !== unsaid) body += opening + JSON.stringify(value);
  }
  return `${body}}`;
}
