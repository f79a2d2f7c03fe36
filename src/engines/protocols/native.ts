// Lingate's own engine protocol: one POST with all texts, one answer with all translations.
import type { Attempt, AttemptFailure, EngineProtocol, EngineResponse, EngineWork, Translation } from '../../ports/engine.ts';
import { isJsonObject, jsonObjectOf } from './json-answer.ts';
import type { JsonObject } from './json-answer.ts';

export const nativeProtocol: EngineProtocol = {
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

/** Members in the documented order; `JSON.stringify` leaves out those that are `undefined`. */
function bodyOf(work: EngineWork): string {
  return JSON.stringify({
    text: work.text,
    source_lang: work.sourceLang,
    target_lang: work.targetLang,
    formality: work.formality,
    context: work.context,
    glossary: work.glossary === undefined ? undefined : { id: work.glossary.id, entries: work.glossary.entries },
  });
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
