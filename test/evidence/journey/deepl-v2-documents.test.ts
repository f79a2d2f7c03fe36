// Documents by DeepL's API: its own SDK uploads, waits and downloads; what Python's sends; keys, one download, and what is refused.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as deepl from 'deepl-node';
import { afterAll, expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { ask, onOneGateway, oneTeam } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { startedUntil } from '../../support/started.ts';

const plugins = [{ module: 'lingate/plugins/deepl-v2' }];
const documents = { secret: 'a secret of the tests that is long enough' };
const LETTER = 'Dear Ms Miller,\n\nYours\n';
const TRANSLATED = '[DE] Dear Ms Miller,\n\n[DE] Yours\n';
const CHARACTERS = 'Dear Ms Miller,Yours'.length;

function expectProblem(response: HttpResponse, status: number, code: string): string {
  const { detail, ...problem } = JSON.parse(response.body) as Record<string, unknown>;
  expect([response.status, problem['code'], typeof problem['message']]).toEqual([status, code, 'string']);
  return String(detail);
}

onOneGateway({ config: { plugins, documents } }, (setting) => {
  const { folder } = startedUntil(afterAll);
  const team = oneTeam(setting);

  /** Without the SDK's own retries, which would hide a 503. */
  const clientOf = ({ key }: TestTeam) =>
    new deepl.DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}`, maxRetries: 0, minTimeout: 60_000 });
  const used = async ({ teamId }: TestTeam): Promise<number> => answered(await setting.gateway.store.teams.usage(teamId))!.characters;
  const written = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };
  const post = (path: string, body: unknown, key = team.key): Promise<HttpResponse> => ask(setting, { method: 'POST', path, key, body });

  async function translated(client: deepl.DeepLClient, handle: deepl.DocumentHandle): Promise<deepl.DocumentStatus> {
    let status = await client.getDocumentStatus(handle);
    await expect.poll(async () => (status = await client.getDocumentStatus(handle)).done(), { timeout: 60_000 }).toBe(true);
    return status;
  }

  test('the SDK translates a file from path to path', async () => {
    const own = await setting.gateway.team();
    const [from, to] = [await written('example.txt', LETTER), join(folder, 'output.txt')];
    const status = await clientOf(own).translateDocument(from, to, null, 'de', { formality: 'prefer_less' });
    expect([status.done(), status.billedCharacters]).toEqual([true, CHARACTERS]);
    expect(await readFile(to, 'utf8')).toBe(TRANSLATED);
    await expect.poll(() => used(own)).toBe(CHARACTERS);
  });

  test('by single steps: upload, state, one download; then the document is gone', async () => {
    const own = await setting.gateway.team();
    const client = clientOf(own);
    const { documentId, documentKey } = await client.uploadDocument(Buffer.from(LETTER), 'en', 'de', { filename: '/some/where/a.txt' });
    const handle = { documentId, documentKey };
    expect([documentId, documentKey]).toEqual([expect.stringMatching(/^[0-9A-F]{32}$/), expect.stringMatching(/^[0-9A-F]{64}$/)]);
    const status = await translated(client, handle);
    expect([status.ok(), status.billedCharacters]).toEqual([true, CHARACTERS]);
    expect(await used(own)).toBe(CHARACTERS);
    await client.downloadDocument(handle, join(folder, `${documentId}.txt`));
    expect(await readFile(join(folder, `${documentId}.txt`), 'utf8')).toBe(TRANSLATED);
    await expect(client.downloadDocument(handle, join(folder, 'again.txt'))).rejects.toThrow('Not found');
    expect((await post(`/v2/document/${documentId}`, { document_key: documentKey }, own.key)).status).toBe(404);
    expect(await used(own)).toBe(CHARACTERS);
  });

  test('of two downloads, in a row or at the same time, one has the document and the other finds none', async () => {
    const own = await setting.gateway.team();
    for (let n = 0; n < 4; n++) {
      const handle = await clientOf(own).uploadDocument(Buffer.from(LETTER), 'en', 'de', { filename: 'a.txt' });
      await translated(clientOf(own), handle);
      const download = () => post(`/v2/document/${handle.documentId}/result`, { document_key: handle.documentKey }, own.key);
      const answers = n % 2 === 0 ? [await download(), await download()] : await Promise.all([download(), download()]);
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
    }
    expect(await used(own)).toBe(4 * CHARACTERS);
  });

  test('a document that is not translated yet is not ready, as the SDK understands it', async () => {
    setting.engine.always('hang');
    const client = clientOf(await setting.gateway.team());
    const handle = await client.uploadDocument(Buffer.from(LETTER), null, 'de', { filename: 'a.txt' });
    expect((await client.getDocumentStatus(handle)).ok()).toBe(true);
    await expect(client.downloadDocument(handle, join(folder, 'early.txt'))).rejects.toThrow(deepl.DocumentNotReadyError);
    setting.engine.always('ok');
  });

  test('without its key, with another one, or for another team, a document is not found', async () => {
    const client = clientOf(team);
    const { documentId, documentKey } = await client.uploadDocument(Buffer.from(LETTER), null, 'de', { filename: 'a.txt' });
    const other = await setting.gateway.team();
    const wrong = { documentId, documentKey: '5678'.repeat(16) };
    await expect(client.getDocumentStatus(wrong)).rejects.toThrow('Not found');
    await expect(client.downloadDocument(wrong, join(folder, 'wrong.txt'))).rejects.toThrow('Not found');
    await expect(clientOf(other).getDocumentStatus({ documentId, documentKey })).rejects.toThrow('Not found');
    await expect(client.getDocumentStatus({ documentId: '1234'.repeat(8), documentKey })).rejects.toThrow('Not found');
    expect(expectProblem(await post(`/v2/document/${documentId}`, {}), 400, 'validation_error')).toMatch(/document_key/);
    expectProblem(await post(`/v2/document/not-an-id`, { document_key: documentKey }), 404, 'document_not_found');
  });

  test('what is wrong with an upload is told in the words that clients look for, and costs nothing', async () => {
    const own = await setting.gateway.team();
    const client = clientOf(own);
    const upload = (name: string, options: Record<string, unknown> = {}, target = 'de') =>
      client.uploadDocument(Buffer.from(LETTER), null, target as deepl.TargetLanguageCode, { filename: name, ...options });
    await expect(upload('document.invalid')).rejects.toThrow(/Invalid file extension/);
    await expect(upload('a.docx')).rejects.toThrow(/file: /);
    await expect(upload('a.txt', { formality: 'formality' })).rejects.toThrow(/formality/);
    await expect(upload('a.txt', {}, 'xx')).rejects.toThrow(/target_lang/);
    await expect(upload('a.txt', { extraRequestParameters: { output_format: 'pdf' } })).rejects.toThrow(/output_format/);
    await expect(upload('a.txt', { extraRequestParameters: { style_id: 'x' } })).rejects.toThrow(/style_id/);
    expect((await upload('a.txt', { extraRequestParameters: { output_format: 'txt', unknown: '1' } })).documentId).toBeDefined();
    const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 49_999 });
    await expect(clientOf(poor).uploadDocument(Buffer.from(LETTER), null, 'de', { filename: 'a.txt' })).rejects.toThrow(
      deepl.QuotaExceededError,
    );
    expect([await used(own), await used(poor)]).toEqual([0, 0]);
  });

  test('an error is told by the state, and costs nothing', async () => {
    const own = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50_000 });
    const client = clientOf(own);
    const handle = await client.uploadDocument(Buffer.from(`${'x'.repeat(999)}\n`.repeat(51)), null, 'de', { filename: 'a.txt' });
    await expect.poll(async () => (await client.getDocumentStatus(handle)).ok(), { timeout: 60_000 }).toBe(false);
    expect((await client.getDocumentStatus(handle)).errorMessage).toMatch(/do not cover the document/);
    await expect(client.downloadDocument(handle, join(folder, 'failed.txt'))).rejects.toThrow(/Bad request/);
    expect(await used(own)).toBe(0);
  });

  test('a glossary of the languages without regions is used, and an unknown one is not found', async () => {
    const own = await setting.gateway.team();
    const client = clientOf(own);
    const { glossaryId } = await client.createGlossary(
      'of a document',
      'en',
      'de',
      new deepl.GlossaryEntries({ entries: { Yours: 'Ihre' } }),
    );
    const options = { filename: 'a.txt', glossary: glossaryId };
    await translated(client, await client.uploadDocument(Buffer.from(LETTER), 'en', 'de', options));
    expect(setting.engine.requests.some(({ body }) => body.includes('Ihre'))).toBe(true);
    const unknown = client.uploadDocument(Buffer.from(LETTER), 'en', 'de', { ...options, glossary: glossaryId.replace(/^./, '1') });
    await expect(unknown).rejects.toThrow(/Not found/);
  });

  test('documents are among the resources of languages', async () => {
    const get = async (path: string): Promise<Record<string, unknown>[]> =>
      JSON.parse((await ask(setting, { path, key: team.key })).body) as Record<string, unknown>[];
    expect(await get('/v3/languages/resources')).toContainEqual({
      name: 'translate_document',
      features: expect.arrayContaining([{ name: 'glossary', needs_source_support: true, needs_target_support: true }]) as unknown,
    });
    const languages = await get('/v3/languages?resource=translate_document');
    expect(languages).toContainEqual(expect.objectContaining({ lang: 'de', usable_as_target: true }));
  });
});
