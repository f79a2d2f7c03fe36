// A DeepL-compatible API as an engine: as many texts per call as it accepts; an exhausted quota of the operator is reported as
// such.
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/schema-type.ts';
import type { Attempt, AttemptFailure, EngineProtocol, EngineWork, Translation } from '../../ports/engine.ts';
import { bodyMatches, postJson, translationsOf, unusable } from './json-call.ts';
import type { CallResult } from './json-call.ts';

const Options = Type.Object({ api_key: secret('The key of your account.') });

/** Limits of one request. */
const TEXTS_MAX = 50;
const BODY_BYTES_MAX = 128 * 1024;
/** The quota is exhausted. */
const QUOTA_EXCEEDED = 456;
/** "Value for 'target_lang' not supported." With `.*` it would take quadratic time. */
const LACKS_PAIR = /(?:source|target)_lang\W.{0,100}not supported/i;

export const deepLProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: TEXTS_MAX, formats: ['text', 'html', 'xml'], glossaries: false },
  async attempt(work, wire, { api_key }): Promise<Attempt> {
    const rest = optionsOf(work);
    const translations: Translation[] = [];
    // Sequentially: anything sent after a failure would be paid for and thrown away.
    for (const text of inRequests(work.text, BODY_BYTES_MAX - Buffer.byteLength(JSON.stringify({ text: [], ...rest })))) {
      const response = await postJson(wire, work, '/v2/translate', { text, ...rest }, `DeepL-Auth-Key ${api_key}`);
      const translated = judge(response, text.length);
      if (typeof translated === 'string') return unusable(translated);
      translations.push(...translated);
    }
    return { kind: 'usable', translations };
  },
};

function optionsOf({ options }: EngineWork) {
  const { sourceLang, targetLang, formality, context, format, ignoreTags } = options;
  return {
    source_lang: sourceLang,
    target_lang: targetLang,
    formality,
    context,
    tag_handling: format === 'text' ? undefined : format,
    ignore_tags: format === 'xml' ? ignoreTags : undefined,
  };
}

/** Splits texts in order, before the next would exceed the number or size limit. A text that is too large alone is sent alone. */
function inRequests(text: readonly string[], bytesMax: number): string[][] {
  const requests: string[][] = [];
  let bytes = Infinity;
  for (const entry of text) {
    const entryBytes = Buffer.byteLength(JSON.stringify(entry)) + 1;
    const last = requests.at(-1);
    if (last === undefined || last.length === TEXTS_MAX || bytes + entryBytes > bytesMax) {
      requests.push([entry]);
      bytes = entryBytes;
    } else {
      last.push(entry);
      bytes += entryBytes;
    }
  }
  return requests;
}

function judge(result: CallResult, texts: number): readonly Translation[] | AttemptFailure {
  if (typeof result !== 'string' && result.status === QUOTA_EXCEEDED) return 'engine_quota';
  if (typeof result !== 'string' && result.status === 400 && bodyMatches(result, LACKS_PAIR)) return 'unsupported_pair';
  return translationsOf(result, texts);
}
