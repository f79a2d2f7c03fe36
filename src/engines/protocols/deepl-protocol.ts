// A DeepL-compatible API as an engine: as many texts per call as it accepts, dictionaries of teams
// stored there; an exhausted quota of the operator is reported as such.
import { setTimeout as delay } from 'node:timers/promises';
import { secret } from '../../domain/option-schema.ts';
import { Type } from '../../domain/typebox.ts';
import type {
  Attempt,
  AttemptFailure,
  EngineProtocol,
  EngineWire,
  EngineWork,
  FileWork,
  ReplicaWire,
  TranslatedFile,
  Translation,
} from '../../ports/engine.ts';
import { StoredGlossaries, creationCall, fitsDeepL, nameOf, QUOTA_EXCEEDED } from './deepl-glossaries.ts';
import { callAgain, FILE_BYTES_MAX, fileCall, refusesFile } from './file-form.ts';
import { bodyMatches, jsonObjectOf, postJson, translationsOf, trialBy, unusable } from './json-call.ts';
import type { CallResult, JsonObject } from './json-call.ts';

const Options = Type.Object({
  api_key: secret('The key of your account.'),
  files: Type.Boolean({
    default: true,
    description:
      'Whether documents go there as files. DeepL bills at least 50,000 characters for many formats; `false`: their texts go there.',
  }),
});

/** Limits of one request. */
const TEXTS_MAX = 50;
const BODY_BYTES_MAX = 128 * 1024;
/** How often an attempt makes a dictionary again that others remove. */
const MADE_AGAIN_MAX = 2;
const NAMES_GLOSSARY = /glossary/i;
/** For the length of a request: as long as DeepL's ids. */
const ANY_ID = '00000000-0000-0000-0000-000000000000';
/** "Value for 'target_lang' not supported." With `.*` it would take quadratic time. */
const LACKS_PAIR = /(?:source|target)_lang\W.{0,100}not supported/i;

/** DeepL's own, without pictures. */
const DEEPL_FILES = ['docx', 'htm', 'html', 'pdf', 'pptx', 'srt', 'txt', 'xlf', 'xliff', 'xlsx'] as const;

const DOCUMENT_PATH = '/v2/document';
/** Ids and keys of documents; both go into a path or a body. */
const WORD = /^[\w-]{1,128}$/;
const ASK_MS = { first: 250, most: 5000 };

export const deepLProtocol: EngineProtocol<typeof Options> = {
  options: Options,
  can: { textsMax: TEXTS_MAX, formats: ['text', 'html', 'xml'], instructions: true, styles: true },
  async attempt(work, wire, { api_key }): Promise<Attempt> {
    const authorization = authorizationOf(api_key);
    const dictionary = work.options.glossary === undefined ? undefined : await dictionaryOf(work, wire, authorization);
    if (typeof dictionary === 'string') return unusable(dictionary);
    const rest = { ...optionsOf(work), glossary_id: dictionary && ANY_ID };
    const translations: Translation[] = [];
    // Sequentially: anything sent after a failure would be paid for and thrown away.
    for (const text of inRequests(work.text, BODY_BYTES_MAX - Buffer.byteLength(JSON.stringify({ text: [], ...rest })))) {
      const translated = await translate(work, wire, text, authorization, dictionary);
      if (typeof translated === 'string') return unusable(translated);
      translations.push(...translated);
    }
    return { kind: 'usable', translations };
  },
  trial: (wire, { api_key }) => trialBy(wire, '/v2/usage', { authorization: authorizationOf(api_key) }),
  files: {
    formats: ({ files }) => (files ? DEEPL_FILES : []),
    translate: (work, wire, { api_key }) => fileByDeepL(work, wire, authorizationOf(api_key)),
  },
  storedGlossaries: {
    takes: fitsDeepL,
    tidy: (wire, { api_key }, nowMs) => storedAt(wire, authorizationOf(api_key)).tidy(wire, nowMs),
    forget: (wire, { api_key }, teamId) => storedAt(wire, authorizationOf(api_key)).forget(teamId, wire),
  },
};

/** By replica: ids are its own. */
const stored = new WeakMap<object, StoredGlossaries>();

function storedAt({ replica }: ReplicaWire, authorization: string): StoredGlossaries {
  let at = stored.get(replica);
  if (at === undefined) stored.set(replica, (at = new StoredGlossaries(authorization)));
  return at;
}

function authorizationOf(apiKey: string): string {
  return `DeepL-Auth-Key ${apiKey}`;
}

/** A dictionary that an attempt uses. */
interface Dictionary {
  /** Its id at the server now; it is made if the server has none. */
  readonly id: () => Promise<{ readonly id: string } | AttemptFailure>;
  /** The server does not know this id. */
  readonly gone: (id: string) => void;
}

async function dictionaryOf(work: EngineWork, wire: EngineWire, authorization: string): Promise<Dictionary | AttemptFailure> {
  const { teamId, options } = work;
  // A dictionary belongs to one team, so its requests never share a call with those of another.
  const name = teamId === undefined ? undefined : await nameOf(teamId, options.glossary!, options);
  if (name === undefined) return 'glossary_refused';
  const at = storedAt(wire, authorization);
  return {
    id: () => at.id(name, wire, () => creationCall(name, work, authorization)),
    gone: (id) => at.drop(name, id),
  };
}

/** A dictionary that was removed meanwhile is made again, and the request with it. */
async function translate(
  work: EngineWork,
  wire: EngineWire,
  text: readonly string[],
  authorization: string,
  dictionary: Dictionary | undefined,
): Promise<readonly Translation[] | AttemptFailure> {
  for (let made = 0; ; made++) {
    const known = await dictionary?.id();
    if (typeof known === 'string') return known;
    const body = { text, ...optionsOf(work), glossary_id: known?.id };
    const response = await postJson(wire, work, '/v2/translate', body, authorization);
    if (known === undefined || !isGone(response)) return judge(response, text.length);
    dictionary!.gone(known.id);
    if (made === MADE_AGAIN_MAX) return typeof response !== 'string' && response.status === 400 ? 'glossary_refused' : 'status';
  }
}

/** Whether the answer to a request with a dictionary says that there is none of this id. */
function isGone(result: CallResult): boolean {
  if (typeof result === 'string') return false;
  return result.status === 404 || (result.status === 400 && bodyMatches(result, NAMES_GLOSSARY));
}

function optionsOf({ options }: EngineWork) {
  const { sourceLang, targetLang, formality, context, format, ignoreTags, style } = options;
  return {
    source_lang: sourceLang,
    target_lang: targetLang,
    formality,
    context,
    tag_handling: format === 'text' ? undefined : format,
    ignore_tags: format === 'xml' ? ignoreTags : undefined,
    style_id: style?.styleId,
    translation_memory_id: style?.memoryId,
    translation_memory_threshold: style?.memoryThreshold,
    custom_instructions: style?.instructions,
  };
}

/** Splits texts in order, by the number and size limits. One too large is sent alone. */
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

async function fileByDeepL(work: FileWork, wire: ReplicaWire, authorization: string): Promise<TranslatedFile | AttemptFailure> {
  const { sourceLang, targetLang, formality } = work;
  const fields = { target_lang: targetLang, source_lang: sourceLang, formality };
  const uploaded = await wire.call(fileCall(DOCUMENT_PATH, work, fields, { authorization }));
  if (typeof uploaded === 'string') return uploaded;
  if (uploaded.status === QUOTA_EXCEEDED) return 'engine_quota';
  if (uploaded.status === 400 && bodyMatches(uploaded, LACKS_PAIR)) return 'unsupported_pair';
  if (refusesFile(uploaded)) return 'file_refused';
  const handle = jsonObjectOf(uploaded);
  if (typeof handle === 'string') return handle;
  const { document_id: id, document_key: key } = handle;
  if (typeof id !== 'string' || typeof key !== 'string' || !WORD.test(id) || !WORD.test(key)) return 'wrong_shape';
  const named = { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify({ document_key: key }) };
  const done = await untilDone(() => callAgain(wire, { method: 'POST', path: `${DOCUMENT_PATH}/${id}`, ...named }));
  if (typeof done === 'string') return done;
  const result = await callAgain(wire, { method: 'POST', path: `${DOCUMENT_PATH}/${id}/result`, ...named, answerBytesMax: FILE_BYTES_MAX });
  if (typeof result === 'string') return result;
  if (result.status === QUOTA_EXCEEDED) return 'engine_quota';
  if (result.status !== 200) return 'status';
  const billed = done['billed_characters'];
  return { bytes: result.body, billed: Number.isSafeInteger(billed) && (billed as number) >= 0 ? (billed as number) : undefined };
}

/** Ends with the attempt: from then on every call is its failure. */
async function untilDone(ask: () => Promise<CallResult>): Promise<JsonObject | AttemptFailure> {
  for (let pauseMs = ASK_MS.first; ; pauseMs = Math.min(ASK_MS.most, pauseMs * 1.5)) {
    const read = jsonObjectOf(await ask());
    if (typeof read === 'string' || read['status'] === 'done') return read;
    if (read['status'] === 'error') return 'file_refused';
    if (read['status'] !== 'queued' && read['status'] !== 'translating') return 'wrong_shape';
    await delay(pauseMs, undefined, { ref: false });
  }
}
