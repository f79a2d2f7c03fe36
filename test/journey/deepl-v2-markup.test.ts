// `markup: free`: with tag_handling, what stands outside of tags is charged, held and reported; all of it counts for the length.
import { DeepLClient, QuotaExceededError } from 'deepl-node';
import { beforeEach, describe, expect, test } from 'vitest';
import { ask, onOneGateway, oneTeam } from '../support/every-gateway.ts';
import type { Setting } from '../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const MODULE = 'lingate/plugins/deepl-v2';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const XML = '<p title="not counted">Tom &amp; Jerry<br/><!-- neither --></p>';
const XML_TEXT = 'Tom & Jerry'.length;

interface Answer {
  readonly translations: readonly { readonly text: string; readonly billed_characters: number }[];
}

const billedIn = (response: HttpResponse): readonly number[] =>
  (response.json() as Answer).translations.map((one) => one.billed_characters);

const postOf =
  (setting: Setting) =>
  (team: Pick<TestTeam, 'key'>, body: unknown, headers: Readonly<Record<string, string>> = {}) =>
    ask(setting, { method: 'POST', path: '/v2/translate', headers: { authorization: `DeepL-Auth-Key ${team.key}`, ...headers }, body });

describe('markup: free', () => {
  const config = { plugins: [{ module: MODULE, options: { markup: 'free' } }] };
  onOneGateway({ config }, (setting) => {
    const team = oneTeam(setting);
    beforeEach(() => setting.engine.forget());

    const post = postOf(setting);
    const billed = async (more: object): Promise<readonly number[]> => {
      const body = { target_lang: 'DE', show_billed_characters: true, ...more };
      const response = await post(team, body);
      expect(response.status).toBe(200);
      return billedIn(response);
    };

    test('each text is charged for what stands outside of its tags, and the engine gets all of it', async () => {
      const own = await setting.gateway.team();
      const client = new DeepLClient(own.key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}` });
      const texts = [XML, '<x/>', '<p>not closed', 'plain'];
      const found = await client.translateText(texts, 'en', 'de', { tagHandling: 'xml' });
      expect(found.map(({ billedCharacters }) => billedCharacters)).toEqual([XML_TEXT, 0, 13, 5]);
      expect(found.map(({ text }) => text)).toEqual(texts.map((text) => `[DE] ${text}`));
      expect(JSON.parse(setting.engine.requests[0]!.body)).toMatchObject({ text: texts, format: 'xml' });
      await expect.poll(() => setting.gateway.charged(own)).toBe(XML_TEXT + 0 + 13 + 5);
      const { character } = await client.getUsage();
      expect(character?.count).toBe(XML_TEXT + 18);
    });

    test('HTML as its parser mends it; without tag_handling everything counts', async () => {
      const text = ['<p>not closed', 'a < b', '<img alt="words">', ''];
      expect(await billed({ text, tag_handling: 'html' })).toEqual([10, 5, 0, 0]);
      expect(await billed({ text })).toEqual([13, 5, 17, 0]);
    });

    test('forms are charged like JSON, and with a glossary the same', async () => {
      const fields = new URLSearchParams([
        ['text', XML],
        ['text', '<b>é😀</b>'],
        ['target_lang', 'DE'],
        ['tag_handling', 'xml'],
        ['show_billed_characters', '1'],
      ]);
      const response = await post(team, fields.toString(), FORM);
      expect(billedIn(response)).toEqual([XML_TEXT, 2]);
      const own = await setting.gateway.team({ ...QUOTA_PLAN, max_glossaries: 1 });
      const dictionary = { source_lang: 'en', target_lang: 'de', entries: 'a\tb' };
      const made = await ask(setting, { method: 'POST', path: '/v2/glossaries', key: own.key, body: { name: 'g', ...dictionary } });
      const { glossary_id } = made.json() as { glossary_id: string };
      const body = { text: ['<x/>'], source_lang: 'EN', target_lang: 'DE', tag_handling: 'xml', glossary_id };
      expect((await post(own, body)).status).toBe(200);
      expect(JSON.parse(setting.engine.requests.at(-1)!.body)).toMatchObject({ glossary: { entries: { a: 'b' } } });
      await expect.poll(() => setting.gateway.charged(own)).toBe(0);
    });

    test('a quota and a credit have to cover what is charged, to the last character', async () => {
      const quota = await setting.gateway.team({ ...QUOTA_PLAN, characters: 2 * XML_TEXT });
      // 400 characters for each minor unit: 36 of these texts.
      const credit = await setting.gateway.team(CREDIT_PLAN, 1);
      const body = { text: [XML], target_lang: 'DE', tag_handling: 'xml' };
      for (let i = 0; i < 2; i++) expect((await post(quota, body)).status).toBe(200);
      const client = new DeepLClient(quota.key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}` });
      await expect(client.translateText('<b>x</b>', null, 'de', { tagHandling: 'xml' })).rejects.toThrow(QuotaExceededError);
      // What costs nothing is still translated.
      expect((await post(quota, { ...body, text: ['<x/>'] })).status).toBe(200);
      await expect.poll(() => setting.gateway.charged(quota)).toBe(2 * XML_TEXT);
      const dozen = { ...body, text: Array.from({ length: 12 }, () => XML) };
      for (let i = 0; i < 3; i++) expect((await post(credit, dozen)).status).toBe(200);
      expect((await post(credit, body)).status).toBe(456);
      await expect.poll(() => setting.gateway.charged(credit)).toBe(36 * XML_TEXT);
    });

    test('the length of a request is that of all its characters, before the quota', async () => {
      const short = await setting.gateway.team({ ...QUOTA_PLAN, characters: 0, max_characters_per_request: XML.length - 1 });
      const response = await post(short, { text: [XML], target_lang: 'DE', tag_handling: 'xml' });
      expect([response.status, response.json()]).toMatchObject([
        413,
        { code: 'text_too_long', characters: XML.length, max_characters: XML.length - 1 },
      ]);
      expect(await setting.gateway.charged(short)).toBe(0);
    });

    test('texts of any length: the same count as a parser’s in one piece', async () => {
      const rich = await setting.gateway.team({ ...QUOTA_PLAN, characters: 10_000_000, max_characters_per_request: 1_000_000 });
      const text = '<p class="long">é <b>😀</b></p>'.repeat(20_000);
      for (const tag_handling of ['xml', 'html']) {
        const response = await post(rich, { text: [text], target_lang: 'DE', tag_handling, show_billed_characters: 1 });
        expect(billedIn(response)).toEqual([60_000]);
      }
      await expect.poll(() => setting.gateway.charged(rich)).toBe(120_000);
    });
  });
});

describe('markup: free, with a memory that answers without charge', () => {
  const memory = { module: 'lingate/plugins/memory', options: { charge: 'none' } };
  const config = { plugins: [memory, { module: MODULE, options: { markup: 'free' } }] };
  onOneGateway({ config }, (setting) => {
    const post = postOf(setting);

    test('a known text frees its own charge, not its length', async () => {
      const own = await setting.gateway.team();
      const body = { target_lang: 'DE', tag_handling: 'xml', show_billed_characters: true };
      expect((await post(own, { ...body, text: ['<b title="very long">ab</b>'] })).status).toBe(200);
      const response = await post(own, { ...body, text: ['<b title="very long">ab</b>', 'abcdef'] });
      expect(billedIn(response)).toEqual([0, 6]);
      await expect.poll(() => setting.gateway.charged(own)).toBe(8);
    });
  });
});

describe('markup: counted', () => {
  onOneGateway({ config: { plugins: [{ module: MODULE }] } }, (setting) => {
    const post = postOf(setting);

    test('is the default, and version 2 of tag handling refuses XML that does not parse, without charge', async () => {
      const own = await setting.gateway.team();
      const body = { target_lang: 'DE', tag_handling: 'xml', show_billed_characters: true };
      const strict = { ...body, tag_handling_version: 'v2' };
      expect(billedIn(await post(own, { ...strict, text: [XML, 'a'] }))).toEqual([XML.length, 1]);
      for (const text of ['<p>not closed', 'a & b', '<a b=c/>', '</a>', '&nbsp;', '<a/>\u0000']) {
        const response = await post(own, { ...strict, text: ['fine', text] });
        expect([text, response.status, response.json()]).toMatchObject([
          text,
          400,
          { code: 'validation_error', detail: expect.stringContaining('text[1]') as string },
        ]);
        for (const lax of [
          { ...body, tag_handling_version: 'v1' },
          { ...strict, tag_handling: 'html' },
          { ...strict, tag_handling: '' },
        ]) {
          setting.engine.forget();
          expect((await post(own, { ...lax, text: [text] })).status).toBe(200);
          expect(setting.engine.requests).toHaveLength(1);
        }
      }
      setting.engine.forget();
      await post(own, { ...strict, text: ['<a>'] });
      expect(setting.engine.requests).toEqual([]);
    });

    test('a refused key or rate is told before markup that does not parse', async () => {
      const body = { text: ['<a>'], target_lang: 'DE', tag_handling: 'xml', tag_handling_version: 'v2' };
      expect((await post({ key: `la_live_${'a'.repeat(40)}` }, body)).status).toBe(403);
      const own = await setting.gateway.team({ ...QUOTA_PLAN, max_characters_per_request: 2 });
      expect((await post(own, body)).status).toBe(413);
      expect(await setting.gateway.charged(own)).toBe(0);
    });
  });
});
