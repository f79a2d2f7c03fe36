// Real text through the gateway and a real engine: Apertium, English to Spanish and back.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApertium } from '../../support/apertium.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestGateway, TestTeam } from '../../support/gateway.ts';
import { startedUntil } from '../../support/started.ts';

interface Success {
  readonly translations: readonly { readonly text: string; readonly detected_source_language?: string }[];
  readonly billed_characters: number;
}

/** APY cuts a text off at some 32 KiB. */
const LARGE = { ...QUOTA_PLAN, max_characters_per_request: 100_000 };

const started = startedUntil(afterAll);
let gateway: TestGateway;
let team: TestTeam;

beforeAll(async () => {
  const apertium = await startApertium();
  started.closes(() => apertium.stop());
  const config = { engine: { protocol: 'apertium', timeout_ms: 25_000 } };
  gateway = await started.gateway({ engineUrls: [apertium.url], config });
  team = await gateway.team(LARGE);
});

function translate(body: unknown, { key } = team): Promise<Response> {
  return fetch(`http://127.0.0.1:${gateway.port}/v1/translate`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body: JSON.stringify(body),
  });
}
const success = async (body: unknown): Promise<Success> => (await (await translate(body)).json()) as Success;
const translated = async (text: readonly string[]): Promise<readonly string[]> =>
  (await success({ text, source_lang: 'EN', target_lang: 'ES' })).translations.map((translation) => translation.text);

test('English is translated into Spanish, and Spanish into English, charged by code points', async () => {
  const there = await success({ text: ['The house is big.'], source_lang: 'EN', target_lang: 'ES' });
  expect(there).toEqual({ translations: [{ detected_source_language: 'EN', text: 'La casa es grande.' }], billed_characters: 17 });
  const back = await success({ text: ['La casa es grande.', 'El perro.'], source_lang: 'es', target_lang: 'en-us' });
  expect(back.translations.map(({ text }) => text)).toEqual(['The house is big.', 'The dog.']);
  expect(back.billed_characters).toBe(27);
});

test.each([
  ['  The house.\n\nThe   cat\tis black.\r\n ', '  La casa.\n\nEl   gato\tes negro.\r\n '],
  ['\u00a0The house\u2003', '\u00a0La casa\u2003'],
  ['I have 3 cats', 'Tengo 3 gatos'],
  ['<b>The house</b> & "x" &amp; a > 1', '<b>La casa</b> & "x" &amp; un > 1'],
  ['The house [x] {y} ^z$ @ # \\ / ~ 😀 👨‍👩‍👧 qwrtz', 'La casa [x] {y} ^z$ @ # \\ / ~ 😀 👨‍👩‍👧 qwrtz'],
])('white space, markup and unknown words are kept: %j', async (text, expected) => {
  expect(await translated([text])).toEqual([expected]);
});

test('a long text is translated completely, which APY alone would silently cut off', async () => {
  const lines = 2700;
  const [text = ''] = await translated(['The house is big. '.repeat(lines)]);
  expect(text.split('La casa es grande. ')).toHaveLength(lines + 1);
  expect(text.replaceAll('La casa es grande. ', '')).toBe('');
  const endless = 'xyzzy'.repeat(9000);
  expect(await translated([endless])).toEqual([endless]);
});

test('the language of each text is detected if none is given', async () => {
  const there = await success({ text: ['The house is big and the cat is black.'], target_lang: 'ES' });
  expect(there.translations).toEqual([{ text: 'La casa es grande y el gato es negro.', detected_source_language: 'EN' }]);
  const back = await success({ text: ['La casa es grande y el gato es negro.'], target_lang: 'EN-US' });
  expect(back.translations).toMatchObject([{ detected_source_language: 'ES' }]);
});

test('a pair that Apertium lacks is a 400 that names its targets, charged nothing; the lists show its pairs', async () => {
  await expect.poll(() => gateway.logLines.join('')).toContain('"pairs":"EN-ES ES-EN-GB ES-EN-US"');
  const fresh = await gateway.team();
  for (const [body, detail] of [
    [{ source_lang: 'EN', target_lang: 'JA' }, 'target_lang: JA is not offered for texts in EN; offered: ES.'],
    [{ source_lang: 'ES', target_lang: 'ES' }, 'target_lang: ES is not offered for texts in ES; offered: EN-GB, EN-US.'],
    [{ target_lang: 'JA' }, 'target_lang: JA is not offered; offered: EN-GB, EN-US, ES.'],
  ] as const) {
    const response = await translate({ text: ['Hello'], ...body }, fresh);
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'validation_error', detail }]);
  }
  await expect.poll(() => gateway.store.teams.standing(fresh.teamId)).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
  const listed = async (type: string): Promise<string[]> => {
    const headers = { authorization: `Bearer ${fresh.key}` };
    const response = await fetch(`http://127.0.0.1:${gateway.port}/v1/languages?type=${type}`, { headers });
    return ((await response.json()) as { language: string }[]).map(({ language }) => language);
  };
  expect([await listed('source'), await listed('target')]).toEqual([
    ['EN', 'ES'],
    ['EN-GB', 'EN-US', 'ES'],
  ]);
});
