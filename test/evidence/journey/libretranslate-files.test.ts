// Files by LibreTranslate's API: as its page and its clients send them, with the key in the form or in a header; the download's address.
import { expect, test } from 'vitest';
import { answered } from '../../../src/index.ts';
import { ask, onOneGateway, oneTeam } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { HttpResponse } from '../../support/raw-http.ts';

const plugins = [{ module: 'lingate/plugins/libretranslate', options: { file_wait_seconds: 45 } }];
const documents = { secret: 'a secret of the tests that is long enough' };
const LETTER = 'Dear Ms Miller,\n\nYours\n';
const TRANSLATED = '[DE] Dear Ms Miller,\n\n[DE] Yours\n';
const CHARACTERS = 'Dear Ms Miller,Yours'.length;
const BOUNDARY = '----WebKitFormBoundary7MA4YWxkTrZu0gW';

interface File {
  readonly name?: string;
  readonly content?: string;
}

/** As a browser sends `FormData` with the file first, as LibreTranslate's page appends it. */
function formOf(fields: Readonly<Record<string, string>>, { name = 'letter.txt', content = LETTER }: File = {}): string {
  const head = `Content-Disposition: form-data; name="file"; filename="${name}"\r\nContent-Type: text/plain\r\n\r\n${content}`;
  const parts = [
    head,
    ...Object.entries(fields).map(([field, value]) => `Content-Disposition: form-data; name="${field}"\r\n\r\n${value}`),
  ];
  return `${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`;
}

onOneGateway({ config: { plugins, documents, listen_trusted_proxies: ['127.0.0.1', '::1'] } }, (setting) => {
  const team = oneTeam(setting);

  const used = async ({ teamId }: TestTeam): Promise<number> => answered(await setting.gateway.store.teams.usage(teamId))!.characters;
  const upload = (fields: Readonly<Record<string, string>>, file?: File, headers: Readonly<Record<string, string>> = {}) =>
    ask(setting, {
      method: 'POST',
      path: '/translate_file',
      headers: { ...headers, host: 'translate.example:8080', 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: formOf(fields, file),
    });
  const pair = { source: 'en', target: 'de' };
  const linkIn = (response: HttpResponse): string => {
    expect([response.status, response.body]).toEqual([200, expect.any(String)]);
    const { translatedFileUrl } = JSON.parse(response.body) as { readonly translatedFileUrl: string };
    expect(translatedFileUrl).toMatch(/^http:\/\/translate\.example:8080\/download_file\/[\w-]{60,}\.txt$/);
    return new URL(translatedFileUrl).pathname;
  };
  const expectError = (response: HttpResponse, status: number): string => {
    const { error } = JSON.parse(response.body) as { readonly error: unknown };
    expect([response.status, typeof error]).toEqual([status, 'string']);
    return String(error);
  };

  test('a file is translated, downloaded without a key, and charged once', async () => {
    const own = await setting.gateway.team();
    const path = linkIn(await upload({ ...pair, api_key: own.key }));
    expect(await used(own)).toBe(CHARACTERS);
    for (let time = 0; time < 2; time++) {
      const file = await ask(setting, { path });
      expect([file.status, file.body, file.header('access-control-allow-origin')]).toEqual([200, TRANSLATED, '*']);
      expect(file.header('content-disposition')).toContain('filename="letter.txt"');
    }
    expect(await used(own)).toBe(CHARACTERS);
  });

  test('behind a trusted proxy with TLS a link has its scheme', async () => {
    const url = async (headers: Readonly<Record<string, string>>): Promise<string> =>
      (JSON.parse((await upload({ ...pair, api_key: team.key }, undefined, headers)).body) as { translatedFileUrl: string })
        .translatedFileUrl;
    expect(await url({ 'x-forwarded-proto': 'https' })).toMatch(/^https:\/\/translate\.example:8080\//);
    const others = await Promise.all(['http', 'https, http', 'httpss'].map((other) => url({ 'x-forwarded-proto': other })));
    for (const other of others) expect(other).toMatch(/^http:/);
  });

  test('a link works as long as the key that has made it', async () => {
    const { teams } = setting.gateway.store;
    const own = await setting.gateway.team();
    const path = linkIn(await upload({ ...pair, api_key: own.key }));
    answered(await teams.updateKey(own.keyId, { disabled: true }));
    expect(expectError(await ask(setting, { path }), 403)).toMatch(/disabled/);
    answered(await teams.updateKey(own.keyId, { disabled: false }));
    expect((await ask(setting, { path })).body).toBe(TRANSLATED);
    answered(await teams.revokeKey(own.keyId));
    expect(expectError(await ask(setting, { path }), 403)).toMatch(/revoked/);
  });

  test('a file that is longer than other bodies needs the key in a header', async () => {
    const content = `WEBVTT\n\nNOTE ${'x'.repeat(1_500_000)}\n\n00:01.000 --> 00:02.000\nHello\n`;
    const file = { name: 'a.vtt', content };
    expect(expectError(await upload({ ...pair, api_key: team.key }, file), 400)).toMatch(/at most 1048576 bytes/);
    const answer = await upload({ source: 'auto', target: 'de' }, file, { authorization: `Bearer ${team.key}` });
    const { translatedFileUrl } = JSON.parse(answer.body) as { readonly translatedFileUrl: string };
    expect((await ask(setting, { path: new URL(translatedFileUrl).pathname })).body).toBe(content.replace('Hello', '[DE] Hello'));
  });

  test('a wrong key, or none, is refused before anything is kept', async () => {
    expect(expectError(await upload({ ...pair, api_key: 'invalid' }), 403)).toMatch(/malformed/);
    expect(expectError(await upload(pair), 403)).toMatch(/No API key was sent/);
    expect(expectError(await upload({ ...pair, api_key: `la_test_${'x'.repeat(40)}` }), 403)).toMatch(/not known/);
  });

  test('what is wrong is told in the words of that API, and costs nothing', async () => {
    const own = await setting.gateway.team();
    const key = { api_key: own.key };
    expect(expectError(await upload({ target: 'de', ...key }), 400)).toBe('Invalid request: missing source parameter');
    expect(expectError(await upload({ source: 'en', ...key }), 400)).toBe('Invalid request: missing target parameter');
    expect(expectError(await upload({ ...pair, ...key }, { name: 'program.exe' }), 400)).toBe('Invalid request: file format not supported');
    expect(expectError(await upload({ ...pair, target: 'zz', ...key }), 400)).toBe('zz is not supported');
    expect(expectError(await upload({ ...pair, source: 'zz', ...key }), 400)).toBe('zz is not supported');
    expect(expectError(await upload({ ...pair, ...key }, { name: 'a.docx' }), 400)).toMatch(/^file: /);
    const poor = await setting.gateway.team({ ...QUOTA_PLAN, characters: 50_000 });
    const long = { content: `${'x'.repeat(999)}\n`.repeat(51) };
    expect(expectError(await upload({ ...pair, api_key: poor.key }, long), 403)).toMatch(/do not cover the document/);
    expect([await used(own), await used(poor)]).toEqual([0, 0]);
  });

  test('a link of somebody else’s making finds nothing', async () => {
    const path = linkIn(await upload({ ...pair, api_key: team.key }));
    const changed = path.replace(/.(?=\.txt)/, (last) => (last === 'A' ? 'B' : 'A'));
    for (const wrong of ['/download_file/..', '/download_file/a.txt', `/download_file/${'A'.repeat(80)}.txt`, changed]) {
      expect([404, 400]).toContain((await ask(setting, { path: wrong })).status);
    }
  });

  test('the settings of front ends name the files', async () => {
    const settings = JSON.parse((await ask(setting, { path: '/frontend/settings' })).body) as Record<string, unknown>;
    expect(settings['filesTranslation']).toBe(true);
    expect(settings['supportedFilesFormat']).toEqual(expect.arrayContaining(['.docx', '.txt', '.odt', '.html']));
  });
});

const impatient = [{ module: 'lingate/plugins/libretranslate', options: { file_wait_seconds: 1 } }];
onOneGateway({ config: { plugins: impatient, documents } }, (setting) => {
  test('a translation that takes too long is given up, and nothing stays of it', async () => {
    const own = await setting.gateway.team();
    setting.engine.always('hang');
    const response = await ask(setting, {
      method: 'POST',
      path: '/translate_file',
      key: own.key,
      headers: { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` },
      body: formOf({ source: 'en', target: 'de' }),
    });
    expect([response.status, response.body]).toEqual([500, expect.stringContaining('takes too long')]);
    const { records } = setting.gateway.store;
    await expect.poll(async () => answered(await records.list(own.teamId, 'documents')).size).toBe(0);
    setting.engine.always('ok');
  });
});
