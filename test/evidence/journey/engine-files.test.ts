// Engines that take files: DeepL's and LibreTranslate's protocol over real sockets; what is billed, and what happens if
// the engine fails or lies.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { answer, CANARY, scriptedFile, scriptedFiles, scriptedTranslation, status } from '../../../src/testing.ts';
import { formIn } from '../../support/door/contracts.ts';
import type { ScriptedEngine } from '../../../src/testing/scripted-engine.ts';
import { DocumentCaller } from '../../support/document-caller.ts';
import { expectProblem } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { request as get } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const documents = { secret: 'a secret of the tests that is long enough' };
const options = { api_key: 'key-of-the-operator' };
const LETTER = 'Dear Ms Miller,\n';
const CHARACTERS = 'Dear Ms Miller,'.length;
const PDF = '%PDF-1.7 of a test';
/** As DeepL bills. */
const LEAST = 50_000;

const right = scriptedFiles(() => '[]');

const started = startedUntil(afterAll);
let deepl: ScriptedEngine;
let own: ScriptedEngine;
let libre: ScriptedEngine;
let both: TestGateway;
let alone: TestGateway;

/** Each on a store of its own, because every gateway of a store takes documents from the queue. */
const start = async (config: object, engineUrls: readonly string[] = []): Promise<TestGateway> =>
  started.gateway({ store: (await started.place('redis')).url, engineUrls, config: { ...config, documents } });

beforeAll(async () => {
  const texts = (): string => '{"translations":[]}';
  [deepl, own, libre] = await Promise.all([
    started.engine({ right: scriptedFiles(texts, { billed: (file) => (file.includes('dear') ? 2 * LEAST : LEAST) }) }),
    started.engine(),
    started.engine({ right }),
  ]);
  const engines = { vendor: { protocol: 'deepl', urls: [deepl.url], options }, own: { protocol: 'native', urls: [own.url] } };
  both = await start({ engines });
  const engine = { protocol: 'libretranslate', options };
  alone = await start({ engine }, [libre.url]);
});
beforeEach(() => {
  for (const engine of [deepl, own, libre]) engine.forget();
});

const callerOf = ({ port }: TestGateway, { key }: TestTeam): DocumentCaller => new DocumentCaller(port, key);
const used = async ({ teamId }: TestTeam, { store } = both): Promise<number> => answered(await store.teams.usage(teamId))!.characters;
const documentCalls = ({ requests }: ScriptedEngine) =>
  requests.filter(({ path }) => path === '/v2/document' || path === '/translate_file');

test('a file goes to DeepL byte for byte, without its name, and what is billed there is charged', async () => {
  const team = await both.team({ ...QUOTA_PLAN, characters: 2 * LEAST });
  const caller = callerOf(both, team);
  const id = await caller.uploaded({ file: LETTER, fileName: 'secret name.txt', fields: { target_lang: 'DE', source_lang: 'EN' } });
  expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: LEAST });
  const [upload] = documentCalls(deepl);
  expect(formIn(upload!)).toEqual({ file: LETTER, fields: { target_lang: 'DE', source_lang: 'EN' } });
  expect([upload!.headers['authorization'], upload!.body.includes('secret name')]).toEqual(['DeepL-Auth-Key key-of-the-operator', false]);
  expect((await caller.result(id)).body).toBe(scriptedFile(LETTER, 'DE'));
  await expect.poll(() => used(team)).toBe(LEAST);
  expect(own.requests).toEqual([]);
});

test('if what is billed does not fit, the document ends with that, and costs nothing', async () => {
  const team = await both.team({ ...QUOTA_PLAN, characters: 2 * LEAST - 1 });
  const caller = callerOf(both, team);
  const id = await caller.uploaded({ file: 'A dear letter' });
  expect(await caller.reached(id, 'error')).toMatchObject({ code: 'quota_exceeded' });
  expect(documentCalls(deepl)).toHaveLength(1);
  expect(await used(team)).toBe(0);
  // Nothing of it stays reserved.
  await caller.reached(await caller.uploaded({ file: LETTER }), 'done');
});

test('a format that only an engine reads is accepted where one takes it', async () => {
  const team = await both.team({ ...QUOTA_PLAN, characters: 2 * LEAST });
  const caller = callerOf(both, team);
  const id = await caller.uploaded({ file: PDF, fileName: 'a.pdf' });
  await caller.reached(id, 'done');
  const result = await caller.result(id);
  expect([result.status, result.body]).toEqual([200, scriptedFile(PDF, 'DE')]);
  const refused = await caller.upload({ file: PDF, fileName: 'a.rar' });
  expect(expectProblem(refused, 'validation_error')).toMatch(/^file: the ending of its name must be one of .*pdf/);
});

test('if DeepL fails, the next engine translates the texts; nothing of the failure is told', async () => {
  deepl.always(status(500));
  const team = await both.team();
  const caller = callerOf(both, team);
  const id = await caller.uploaded({ file: LETTER });
  expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: CHARACTERS });
  expect((await caller.result(id)).body).toBe(`${scriptedTranslation('Dear Ms Miller,', 'DE')}\n`);
  await expect.poll(() => used(team)).toBe(CHARACTERS);
  expect(documentCalls(deepl)).toHaveLength(1);
  expect(both.logLines.join('')).not.toContain(CANARY);
});

test('LibreTranslate gets the file too, and what was counted is charged', async () => {
  const team = await alone.team();
  const caller = callerOf(alone, team);
  const id = await caller.uploaded({ file: LETTER });
  expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: CHARACTERS });
  expect(formIn(documentCalls(libre)[0]!).fields).toEqual({ source: 'auto', target: 'de', api_key: 'key-of-the-operator' });
  expect((await caller.result(id)).body).toBe(scriptedFile(LETTER, 'DE'));
  await expect.poll(() => used(team, alone)).toBe(CHARACTERS);
});

test('a second attempt is made; an answer that is no file of the format is none', async () => {
  const team = await alone.team({ ...QUOTA_PLAN, characters: 2 * LEAST });
  const caller = callerOf(alone, team);
  // The first attempt's download is another format, with status 200.
  let downloads = 0;
  libre.always((request, response) => {
    const isFirst = request.path.startsWith('/download_file') && downloads++ === 0;
    answer(isFirst ? `<html>${CANARY}` : right(request))(request, response);
  });
  const id = await caller.uploaded({ file: PDF, fileName: 'a.pdf' });
  // Nobody can count it: what the plan holds is charged.
  expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: LEAST });
  expect(documentCalls(libre)).toHaveLength(2);
  expect((await caller.result(id)).body).toBe(scriptedFile(PDF, 'DE'));
});

test('a file that the engine refuses is the fault of the document; nothing stays reserved, and the engine goes on', async () => {
  const team = await alone.team({ ...QUOTA_PLAN, characters: LEAST });
  const caller = callerOf(alone, team);
  libre.always(status(400));
  const id = await caller.uploaded({ file: PDF, fileName: 'a.pdf' });
  const shown = await caller.reached(id, 'error');
  expect(shown).toMatchObject({ code: 'validation_error', detail: expect.stringMatching(/^file: /) as unknown });
  expect(JSON.stringify(shown)).not.toContain(CANARY);
  libre.always('ok');
  const next = await caller.uploaded({ file: PDF, fileName: 'a.pdf' });
  await caller.reached(next, 'done');
});

test('a file that is only too long for the engine has its texts translated', async () => {
  const team = await alone.team();
  const caller = callerOf(alone, team);
  libre.always((request, response) => {
    const isFile = request.path === '/translate_file';
    (isFile ? status(413) : answer('{"translatedText":"Sehr geehrte Frau Miller,"}'))(request, response);
  });
  const id = await caller.uploaded({ file: LETTER });
  expect(await caller.reached(id, 'done')).toMatchObject({ billed_characters: CHARACTERS });
  expect((await caller.result(id)).body).toBe('Sehr geehrte Frau Miller,\n');
});

test('an engine with a limit has used what it bills for a file, not what was counted or held', async () => {
  const cap = { per: 'month', most: 3 * LEAST };
  const engines = { capped: { protocol: 'deepl', urls: [deepl.url], options, characters: cap } };
  const gateway = await start({ engines });
  const caller = callerOf(gateway, await gateway.team({ ...QUOTA_PLAN, characters: 10 * LEAST }));
  const reached = async (): Promise<string | undefined> =>
    (await get({ port: gateway.opsPort, path: '/metrics' })).body.match(/^lingate_engine_limit_reached.* (\d)$/m)?.[1];
  deepl.behave(status(400), status(400));
  await caller.reached(await caller.uploaded({ file: PDF, fileName: 'refused.pdf' }), 'error');
  await caller.reached(await caller.uploaded({ file: 'A dear letter' }), 'done');
  expect(await reached()).toBe('0');
  await caller.reached(await caller.uploaded({ file: PDF, fileName: 'a.pdf' }), 'done');
  expect(await reached()).toBe('1');
});
