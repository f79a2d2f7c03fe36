// Lingate's own engine protocol: one POST with all texts, one answer with all translations.
import { NOTHING_CHOSEN, OPTION_NAMES, TRANSLATION_OPTIONS } from '../../domain/translation-options.ts';
import type { Attempt, AttemptFailure, EngineProtocol, EngineResponse, EngineWork, Translation } from '../../ports/engine.ts';
import { isJsonObject, jsonObjectOf } from './json-response.ts';
import type { JsonObject } from './json-response.ts';

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
  return typeof answer === 'string' ? unusable(answer) : judge(answer, texts);
}

function headersOf(work: EngineWork): Record<string, string> {
  const headers: Record<string, string> = { 'content-type': 'application/json', 'x-request-id': work.requestId };
  if (work.traceparent !== undefined) headers['traceparent'] = work.traceparent;
  return headers;
}

function bodyOf({ text, options }: EngineWork): string {
  let body = `{"text":${JSON.stringify(text)}`;
  for (const { option, opening, unsaid } of MEMBERS) {
    const value = options[option];
    if (value !== unsaid) body += opening + JSON.stringify(value);
  }
  return `${body}}`;
}

function judge(answer: JsonObject, texts: number): Attempt {
  const entries: unknown = answer['translations'];
  // As many as were sent: a body that ended early can still be JSON, and then this is the only sign of it.
  if (!Array.isArray(entries) || entries.length !== texts) return unusable('wrong_shape');
  const translations: Translation[] = [];
  for (const entry of entries as unknown[]) {
    if (!isJsonObject(entry)) return unusable('wrong_shape');
    const { text, detected_source_language: detected } = entry;
    if (typeof text !== 'string' || (detected !== undefined && typeof detected !== 'string')) return unusable('wrong_shape');
    translations.push({ text, detectedSourceLanguage: detected });
  }
  return { kind: 'usable', translations };
}

function unusable(failure: AttemptFailure): Attempt {
  return { kind: 'unusable', failure };
}
