// Each protocol that comes with the gateway, with a scripted engine that speaks it as documented.
import { scriptedTranslation } from 'lingate/testing';
import type { ProtocolSubject, ScriptedRequest } from 'lingate/testing';
import { afterAll, afterEach, expect } from 'vitest';
import { apertiumProtocol } from '../../../../src/engines/protocols/apertium-protocol.ts';
import { deepLProtocol } from '../../../../src/engines/protocols/deepl-protocol.ts';
import { libreTranslateProtocol } from '../../../../src/engines/protocols/libretranslate-protocol.ts';
import { mtranServerProtocol } from '../../../../src/engines/protocols/mtranserver-protocol.ts';
import { nativeProtocol } from '../../../../src/engines/protocols/native-protocol.ts';
import { openAiProtocol } from '../../../../src/engines/protocols/openai-protocol.ts';
import type { Balancer, EngineOptions } from '../../../../src/engines/balancer.ts';
import type { EngineResult } from '../../../../src/ports/engine.ts';
import { startScriptedEngine } from '../../../../src/testing/scripted-engine.ts';
import { asked, Opened, work } from '../engine-work.ts';
import type { WorkParts } from '../engine-work.ts';

export const SECRET = 'a-secret-of-the-operator';

/** The members of a request's body that tests check, whatever the protocol. */
interface Asked {
  readonly text: readonly string[];
  readonly q: string | readonly string[];
  readonly texts?: readonly string[];
  readonly source: string;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
}

export function askedOf({ body }: ScriptedRequest): Asked {
  return JSON.parse(body) as Asked;
}

function translated(text: string): string {
  return scriptedTranslation(text, 'DE');
}

function deepLShape(translations: readonly unknown[]): string {
  return JSON.stringify({ translations });
}

const deepLTexts = (request: ScriptedRequest): { text: string; detected_source_language: string }[] =>
  askedOf(request).text.map((text) => ({ detected_source_language: 'EN', text: translated(text) }));

const deepLWrong: ProtocolSubject['wrong'] = {
  'one translation too few': (request) => deepLShape(deepLTexts(request).slice(1)),
  'one too many': (request) => deepLShape([...deepLTexts(request), { text: 'x' }]),
  'all texts joined': (request) => deepLShape([{ text: askedOf(request).text.map(translated).join('\n') }]),
  'an empty translation': (request) => deepLShape(deepLTexts(request).map(({ text }, index) => ({ text: index === 0 ? text : ' ' }))),
  'a text that is not a string': (request) => deepLShape(deepLTexts(request).map(() => ({ text: 1 }))),
  'entries that are not objects': (request) => deepLShape(deepLTexts(request).map(({ text }) => text)),
  'an invalid language': (request) => deepLShape(deepLTexts(request).map(({ text }) => ({ text, detected_source_language: 1 }))),
};

/** Lists of pairs, for the protocols that can report them. */
const apertiumPairs = JSON.stringify({
  responseData: [
    { sourceLanguage: 'eng', targetLanguage: 'deu' },
    { sourceLanguage: 'deu', targetLanguage: 'eng_US' },
  ],
  responseStatus: 200,
});
const librePairs = JSON.stringify(['de', 'en', 'fr'].map((code) => ({ code, name: code, targets: ['de', 'en', 'fr'] })));
const mtranPairs = JSON.stringify({ languages: ['de', 'en', 'fr', 'zh-Hans'] });

const apertiumShape = (translatedText: unknown, responseStatus = 200): string =>
  JSON.stringify({ responseData: { translatedText }, responseStatus });
const apertiumText = ({ body }: ScriptedRequest): string => new URLSearchParams(body).get('q')!;

const libreTexts = (request: ScriptedRequest): readonly string[] => [askedOf(request).q].flat().map(translated);
const libreShape = (translatedText: unknown): string => JSON.stringify({ translatedText });

const mtranShape = (request: ScriptedRequest, results: readonly unknown[]): string =>
  request.path === '/translate/batch' ? JSON.stringify({ results }) : JSON.stringify({ result: results[0] });
const mtranTexts = (request: ScriptedRequest): string[] => {
  const { text, texts = [text as unknown as string] } = askedOf(request);
  return texts.map(translated);
};

/** The texts of a chat request by their keys. */
export function openAiTexts(request: ScriptedRequest): Readonly<Record<string, string>> {
  return (JSON.parse(askedOf(request).messages[1]!.content) as { texts: Record<string, string> }).texts;
}

export function completion(content: unknown, finish_reason = 'stop', usage: unknown = { prompt_tokens: 11, completion_tokens: 7 }): string {
  const message = { role: 'assistant', content: typeof content === 'string' || content === null ? content : JSON.stringify(content) };
  return JSON.stringify({ id: 'c', object: 'chat.completion', choices: [{ index: 0, message, finish_reason }], usage });
}

export function openAiRight(request: ScriptedRequest): Record<string, string> {
  return Object.fromEntries(Object.entries(openAiTexts(request)).map(([key, text]) => [key, translated(text)]));
}

const openAiWrong: ProtocolSubject['wrong'] = {
  'no choices': () => '{"choices":[]}',
  'two choices': (request) => {
    const choice = { message: { content: JSON.stringify(openAiRight(request)) }, finish_reason: 'stop' };
    return JSON.stringify({ choices: [choice, choice] });
  },
  'no content': () => completion(null),
  'prose as content': () => completion('Sure! Here are your translations.'),
  'prose around the object': (request) => completion(`Here it is: ${JSON.stringify(openAiRight(request))}`),
  'an end because of the length': (request) => completion(openAiRight(request), 'length'),
  'an end because of a filter': (request) => completion(openAiRight(request), 'content_filter'),
  'a tool call': (request) => completion(openAiRight(request), 'tool_calls'),
  'a missing key': () => completion({}),
  'a key too many': (request) => completion({ ...openAiRight(request), note: 'x' }),
  'another key': (request) => completion(Object.fromEntries(Object.entries(openAiRight(request)).map(([key, text]) => [`${key} `, text]))),
  'a list': (request) => completion(Object.values(openAiRight(request))),
  'texts that are not strings': (request) => completion(Object.fromEntries(Object.keys(openAiRight(request)).map((key) => [key, null]))),
  'an empty text': (request) => completion({ ...openAiRight(request), t0: '' }),
  'a story as a text': (request) => completion({ ...openAiRight(request), t0: 'Once upon a time '.repeat(20) }),
};

export const SUBJECTS: Readonly<Record<string, ProtocolSubject>> = {
  native: { protocol: nativeProtocol, right: (request) => deepLShape(deepLTexts(request)), wrong: deepLWrong },
  apertium: {
    protocol: apertiumProtocol,
    right(request) {
      if (request.path === '/listPairs') return apertiumPairs;
      return request.path === '/identifyLang' ? '{"eng":0.9}' : apertiumShape(translated(apertiumText(request)));
    },
    wrong: {
      'an error inside': (request) => apertiumShape(translated(apertiumText(request)), 500),
      'no status inside': (request) => JSON.stringify({ responseData: { translatedText: translated(apertiumText(request)) } }),
      'no data': () => '{"responseData":null,"responseStatus":200}',
      'a text that is not a string': () => apertiumShape(null),
      'an empty translation': () => apertiumShape(' '),
    },
  },
  libretranslate: {
    protocol: libreTranslateProtocol,
    options: { api_key: SECRET, codes: {} },
    right(request) {
      if (request.path === '/languages') return librePairs;
      const translatedText = typeof askedOf(request).q === 'string' ? libreTexts(request)[0] : libreTexts(request);
      const detected = askedOf(request).source === 'auto' ? { detectedLanguage: { confidence: 90, language: 'en' } } : {};
      return JSON.stringify({ translatedText, ...detected });
    },
    wrong: {
      'one translation too few': (request) => libreShape(libreTexts(request).slice(1)),
      'one too many': (request) => libreShape([...libreTexts(request), 'x']),
      'a string instead of a list': (request) => libreShape(libreTexts(request).join('\n')),
      'texts that are not strings': (request) => libreShape(libreTexts(request).map(() => null)),
      'an empty translation': (request) => libreShape(libreTexts(request).map(() => '')),
      'the emoji that answers a wrong key': (request) => libreShape(libreTexts(request).map(() => '🤡')),
    },
  },
  openai: {
    protocol: openAiProtocol,
    options: { model: 'm', api_key: SECRET, schema: 'json_schema', max_tokens_per_character: 4 },
    // Its list of models is asked for when a gateway starts.
    right: (request) => (request.method === 'GET' ? '{"data":[]}' : completion(openAiRight(request))),
    wrong: openAiWrong,
  },
  deepl: {
    protocol: deepLProtocol,
    options: { api_key: SECRET },
    right(request) {
      if (request.path === '/v2/usage') return '{"character_count":0,"character_limit":1}';
      if (request.path !== '/v2/glossaries') return deepLShape(deepLTexts(request));
      // None there yet, and one that was made.
      return request.method === 'GET' ? '{"glossaries":[]}' : '{"glossary_id":"g","ready":true}';
    },
    wrong: deepLWrong,
  },
  mtranserver: {
    protocol: mtranServerProtocol,
    options: { token: SECRET },
    right(request) {
      if (request.path === '/languages') return mtranPairs;
      return request.path === '/detect' ? '{"language":"en"}' : mtranShape(request, mtranTexts(request));
    },
    wrong: {
      'one translation too few': (request) => mtranShape(request, mtranTexts(request).slice(1)),
      'one too many': (request) => mtranShape(request, [...mtranTexts(request), 'x']),
      'texts that are not strings': (request) => mtranShape(request, [1, 2]),
      'an empty translation': (request) => mtranShape(request, ['', '']),
    },
  },
};

/** For a test file: an engine that speaks the protocol as documented and forgets after each test, and requests to it. */
export async function speaking(name: string, usual: object = {}, usually: WorkParts = {}) {
  const { protocol, right } = SUBJECTS[name]!;
  const opened = new Opened();
  const scripted = opened.add(await startScriptedEngine({ right }));
  afterEach(() => scripted.forget());
  afterAll(() => opened.close());

  const engine = (options = usual, more: Partial<EngineOptions> = {}): Balancer =>
    opened.engine([scripted.url], { protocol, options, timeout_ms: 20_000, ...more });
  const translate = (parts: WorkParts = {}, options = usual, more: Partial<EngineOptions> = {}): Promise<EngineResult> =>
    asked(engine(options, more), work({ ...usually, ...parts }));
  /** The first request of a translation. */
  const sent = async (parts: WorkParts, options = usual): Promise<ScriptedRequest> => {
    scripted.forget();
    expect((await translate(parts, options)).kind).toBe('usable');
    return scripted.requests[0]!;
  };
  const bodies = (): unknown[] => scripted.requests.map(({ path, body }) => [path, JSON.parse(body) as unknown]);
  return { scripted, engine, translate, sent, bodies };
}
