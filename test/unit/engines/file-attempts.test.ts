// An attempt to translate a file, by DeepL's protocol and LibreTranslate's over real sockets: what is refused, what is asked again.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtInProtocols } from '../../../src/engines/protocols/built-in.ts';
import type { ReplicatedEngine } from '../../../src/engines/balancer.ts';
import type { FailureDetail, FileWork, TranslatedFile } from '../../../src/ports/engine.ts';
import { answer, CANARY, startScriptedEngine, status } from '../../../src/testing/scripted-engine.ts';
import type { ScriptedEngine, ScriptedRequest } from '../../../src/testing/scripted-engine.ts';
import { scriptedFile, scriptedFiles } from '../../../src/testing/scripted-files.ts';
import { Opened } from './engine-work.ts';

const WORK: FileWork = {
  requestId: '01JZZZZZZZZZZZZZZZZZZZZZZZ',
  teamId: 'a-team',
  fileName: 'a.pdf',
  bytes: Buffer.from('%PDF-1.7 of a test'),
  sourceLang: 'EN',
  targetLang: 'DE',
  formality: undefined,
  characters: 100,
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
};
const TRANSLATED = { bytes: Buffer.from(scriptedFile('%PDF-1.7 of a test', 'DE')) };
const OPTIONS = { api_key: 'key-of-the-operator', files: true, codes: {} };

const opened = new Opened();
let scripted: ScriptedEngine;
const right = scriptedFiles(() => '{}', { unreadyFor: 3 });

beforeAll(async () => {
  scripted = opened.add(await startScriptedEngine({ right }));
});
afterEach(() => scripted.forget());
afterAll(() => opened.close());

const engineOf = (name: string, timeoutMs = 5000): ReplicatedEngine =>
  opened.engine([scripted.url], { protocol: builtInProtocols.get(name)!, options: OPTIONS, timeoutMs });
const attempt = (engine: ReplicatedEngine): Promise<TranslatedFile | FailureDetail> =>
  engine.translateFile(WORK, { second: false, signal: new AbortController().signal });

type Act = ReturnType<typeof status>;
const reset: Act = (_request, response) => void response.destroy();
const hang: Act = () => undefined;

/** The right answer, but to the request of this kind and number. */
function failingOnce(kind: (path: string) => boolean, number: number, behaviour: Act): void {
  let count = 0;
  scripted.always((request, response) => {
    const isMeant = kind(request.path) && ++count === number;
    (isMeant ? behaviour : answer(right(request)))(request, response);
  });
}
const isPoll = (path: string): boolean => /^\/v2\/document\/\w+$/.test(path);
const isDownload = (path: string): boolean => path.endsWith('/result') || path.startsWith('/download_file/');
const uploads = (): readonly ScriptedRequest[] =>
  scripted.requests.filter(({ path }) => path === '/v2/document' || path === '/translate_file');

describe.each(['deepl', 'libretranslate'])('%s', (name) => {
  test.each([400, 413, 415, 422])('status %i at the upload is the fault of the file, not of the replica', async (code) => {
    const engine = engineOf(name);
    scripted.always(status(code));
    for (let i = 0; i < 4; i++) expect(await attempt(engine)).toMatchObject({ failure: 'file_refused', status: code });
    expect(engine.health()[0]).toMatchObject({ asideMs: undefined, lastFailure: { failure: 'file_refused', status: code } });
  });

  test.each([401, 403, 404, 429, 500, 503])('status %i is the fault of the engine', async (code) => {
    scripted.always(status(code));
    expect(await attempt(engineOf(name))).toMatchObject({ failure: 'status', status: code });
  });

  test('a download that fails once is asked for again', async () => {
    failingOnce(isDownload, 1, status(503));
    expect(await attempt(engineOf(name))).toMatchObject(TRANSLATED);
    expect(uploads()).toHaveLength(1);
    failingOnce(isDownload, 1, reset);
    expect(await attempt(engineOf(name))).toMatchObject(TRANSLATED);
    scripted.always((request, response) => (isDownload(request.path) ? status(503) : answer(right(request)))(request, response));
    expect(await attempt(engineOf(name))).toMatchObject({ failure: 'status', status: 503 });
  });
});

test("a key that LibreTranslate wants is the operator's affair, though its status is 400", async () => {
  scripted.always(status(400, '{"error":"Please contact the server operator to get an API key"}'));
  expect(await attempt(engineOf('libretranslate'))).toMatchObject({ failure: 'status', status: 400 });
});

test.each<[string, Act]>([
  ['a status', status(500)],
  ['a broken connection', reset],
])('one question about the state that fails, by %s, is asked again; two in a row end the attempt', async (_what, behaviour) => {
  const engine = engineOf('deepl');
  failingOnce(isPoll, 2, behaviour);
  expect(await attempt(engine)).toMatchObject(TRANSLATED);
  expect(uploads()).toHaveLength(1);
  scripted.always((request, response) => (isPoll(request.path) ? behaviour : answer(right(request)))(request, response));
  expect(await attempt(engine)).toHaveProperty('failure');
  expect(scripted.requests.filter(({ path }) => isDownload(path))).toHaveLength(1);
});

test('a question that is not answered ends with the timeout of texts, not with that of the file', async () => {
  scripted.always((request, response) => (isPoll(request.path) ? hang : answer(right(request)))(request, response));
  expect(await attempt(engineOf('deepl', 200))).toMatchObject({ failure: 'timeout' });
  expect(scripted.requests.filter(({ path }) => isPoll(path))).toHaveLength(2);
});

test('a document that DeepL itself gives up is the fault of the file', async () => {
  const given = `{"status":"error","error_message":"${CANARY}"}`;
  scripted.always((request, response) => answer(isPoll(request.path) ? given : right(request))(request, response));
  expect(await attempt(engineOf('deepl'))).toMatchObject({ failure: 'file_refused', status: 200 });
});

test.each(['deepl', 'libretranslate'])('every call of %s has the trace, and an id of its own', async (name) => {
  await attempt(engineOf(name));
  const calls = scripted.requests.map(({ headers }) => [headers['traceparent'], headers['x-request-id']]);
  expect(calls.length).toBeGreaterThan(1);
  const further = calls.slice(1).map((_, i) => `${WORK.requestId}-1-${i + 2}`);
  expect(calls).toEqual([WORK.requestId, ...further].map((id) => [WORK.traceparent, id]));
});
