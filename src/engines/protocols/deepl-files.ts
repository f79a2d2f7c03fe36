// Files at a DeepL server: upload, questions until it is done, download.
import { setTimeout as delay } from 'node:timers/promises';
import type { AttemptFailure, FileWork, ReplicaWire, TranslatedFile } from '../../ports/engine.ts';
import { callAgain, FILE_BYTES_MAX, fileCall, refusesFile } from './file-form.ts';
import { bodyMatches, jsonObjectOf } from './json-call.ts';
import type { CallResult, JsonObject } from './json-call.ts';

/** DeepL's own, without pictures. */
export const DEEPL_FILES = ['docx', 'htm', 'html', 'pdf', 'pptx', 'srt', 'txt', 'xlf', 'xliff', 'xlsx'] as const;

const PATH = '/v2/document';
/** Both go into a path or a body. */
const WORD = /^[\w-]{1,128}$/;
const ASK_MS = { first: 250, most: 5000 };
const QUOTA_EXCEEDED = 456;
const LACKS_PAIR = /(?:source|target)_lang\W.{0,100}not supported/i;

export async function fileByDeepL(work: FileWork, wire: ReplicaWire, authorization: string): Promise<TranslatedFile | AttemptFailure> {
  const { sourceLang, targetLang, formality } = work;
  const fields = { target_lang: targetLang, source_lang: sourceLang, formality };
  const uploaded = await wire.call(fileCall(PATH, work, fields, { authorization }));
  if (typeof uploaded === 'string') return uploaded;
  if (uploaded.status === QUOTA_EXCEEDED) return 'engine_quota';
  if (uploaded.status === 400 && bodyMatches(uploaded, LACKS_PAIR)) return 'unsupported_pair';
  if (refusesFile(uploaded)) return 'file_refused';
  const handle = jsonObjectOf(uploaded);
  if (typeof handle === 'string') return handle;
  const { document_id: id, document_key: key } = handle;
  if (typeof id !== 'string' || typeof key !== 'string' || !WORD.test(id) || !WORD.test(key)) return 'wrong_shape';
  const named = { headers: { authorization, 'content-type': 'application/json' }, body: JSON.stringify({ document_key: key }) };
  const done = await untilDone(() => callAgain(wire, { method: 'POST', path: `${PATH}/${id}`, ...named }));
  if (typeof done === 'string') return done;
  const result = await callAgain(wire, { method: 'POST', path: `${PATH}/${id}/result`, ...named, answerBytesMax: FILE_BYTES_MAX });
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
