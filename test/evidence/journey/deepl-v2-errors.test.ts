// Errors of DeepL's API as its own client for Node understands them: too many requests, wrong parameters, unknown glossaries and paths; none costs anything.
import * as deepl from 'deepl-node';
import { beforeEach, expect, test } from 'vitest';
import { CANARY } from '../../../src/testing.ts';
import { ask, onOneGateway, oneTeam } from '../../support/every-gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import type { HttpResponse } from '../../support/raw-http.ts';
import { withinASecond } from '../../support/within-a-second.ts';

const OPTIONS = { attempt_timeout_ms: 1500 };
const UUID = '0199c6d4-7a3b-7f00-8000-000000000000';
const LIMITS = { body_bytes: 20_000 };

onOneGateway({ config: { plugins: [{ module: 'lingate/plugins/deepl-v2', options: OPTIONS }], limits: LIMITS } }, (setting) => {
  const team = oneTeam(setting);
  beforeEach(() => setting.engine.forget());

  const client = (key: string, options: deepl.TranslatorOptions = {}): deepl.DeepLClient =>
    new deepl.DeepLClient(key, { serverUrl: `http://127.0.0.1:${setting.gateway.port}`, maxRetries: 1, ...options });
  const translated = (key: string, text: string | string[] = 'Hello', more: deepl.TranslateTextOptions = {}): Promise<unknown> =>
    client(key).translateText(text as string, null, 'de', more);
  const post = (body: unknown, key = team.key): Promise<HttpResponse> => ask(setting, { method: 'POST', path: '/v2/translate', key, body });

  /** Nothing was charged and nothing is reserved. */
  async function expectUncharged({ teamId }: TestTeam): Promise<void> {
    const standing = () => setting.gateway.store.teams.standing(teamId);
    await expect.poll(standing).toMatchObject({ usedCharacters: 0, heldCharacters: 0, heldMicro: 0, openReservations: 0 });
  }

  /** A problem document under the vendor's status, with the words that clients show. */
  function expectProblem(response: HttpResponse, status: number, code: string, message?: string): string {
    const problem = response.json() as Readonly<Record<string, unknown>>;
    expect([response.status, response.header('content-type')]).toEqual([status, 'application/problem+json']);
    expect(problem).toMatchObject({ status, code, request_id: response.header('x-request-id') });
    expect([problem['message'], response.header('x-trace-id')]).toEqual([message ?? problem['title'], response.header('x-request-id')]);
    expect(response.body).not.toContain(CANARY);
    return String(problem['detail']);
  }

  test('too many requests are reported as such, and the client retries until it is admitted', async () => {
    const [slow, tries] = await withinASecond(async () => {
      const one = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
      return [one, await Promise.allSettled([1, 2, 3].map(() => translated(one.key)))] as const;
    });
    const refused = tries.flatMap((tried) => (tried.status === 'rejected' ? [tried.reason as unknown] : []));
    expect(refused).toHaveLength(2);
    for (const error of refused) expect(error).toBeInstanceOf(deepl.TooManyRequestsError);
    const patient = client(slow.key, { maxRetries: 5 });
    const both = await Promise.all([1, 2].map(() => patient.translateText('Hello', null, 'de')));
    expect(both.map(({ text }) => text)).toEqual(['[DE] Hello', '[DE] Hello']);
    const done = tries.length - refused.length + both.length;
    await expect.poll(() => setting.gateway.charged(slow)).toBe(5 * done);
  });

  test('an invalid parameter is reported in words that clients look for', async () => {
    const own = await setting.gateway.team();
    const wrong = (body: object): Promise<HttpResponse> => post({ text: ['a'], target_lang: 'DE', ...body }, own.key);
    const answer: readonly (readonly [body: object, words: RegExp, code?: string])[] = [
      [{ target_lang: 'XX' }, /target_lang.*not supported/, 'invalid_target_lang'],
      [{ target_lang: undefined }, /target_lang.*not supported/, 'invalid_target_lang'],
      [{ source_lang: 'XX' }, /source_lang.*not supported/, 'invalid_source_lang'],
      [{ source_lang: 'EN-GB' }, /source_lang.*not supported/, 'invalid_source_lang'],
      [{ target_lang: 'EN-US', formality: 'more' }, /Target language.*formality.*target_lang/],
      [{ formality: 'rude' }, /formality.*not supported/],
      [{ split_sentences: 'invalid' }, /split_sentences/],
      [{ preserve_formatting: 'perhaps' }, /preserve_formatting/],
      [{ outline_detection: { a: 1 } }, /outline_detection/],
      [{ ignore_tags: [1] }, /ignore_tags/],
      [{ model_type: 'best' }, /model_type/],
      [{ tag_handling: 'markdown' }, /tag_handling/],
      [{ tag_handling: 'xml', tag_handling_version: 'v9' }, /tag_handling_version/],
      [{ style_id: 'x' }, /style_id/],
      [{ source_lang: 'EN', glossary_ids: 'a,b' }, /glossary_ids.*UUIDs/],
      [{ source_lang: 'EN', glossary_ids: Array.from({ length: 6 }, (_none, n) => UUID.replace(/^./, String(n))) }, /glossary_ids.*5/],
      [{ source_lang: 'EN', glossary_ids: [UUID], glossary_id: UUID }, /together/],
      [{ glossary_ids: [UUID] }, /source_lang.*required/],
      [{ text: [null] }, /Expected|text\[0\]/],
      [{ text: undefined }, /Expected 'text' parameter to be an array of strings/],
    ];
    for (const [body, words, code = 'validation_error'] of answer) {
      expect(expectProblem(await wrong(body), 400, code)).toMatch(words);
    }
    expectProblem(await ask(setting, { path: '/v2/languages?type=both', key: own.key }), 400, 'validation_error');
    expectProblem(await ask(setting, { path: '/v2/languages', key: own.key, body: { type: 'both' } }), 400, 'validation_error');
    expect((await ask(setting, { path: '/v2/translate', key: own.key })).status).toBe(405);
    expect(setting.engine.requests).toEqual([]);
    await expectUncharged(own);
  });

  test('an unknown glossary is not found, named alone or among others, by the code about it', async () => {
    const own = await setting.gateway.team();
    const [other, six] = [UUID.replace(/^./, '1'), Array.from({ length: 6 }, (_none, n) => (n % 2 === 0 ? UUID : UUID.toUpperCase()))];
    for (const named of [{ glossary_id: UUID }, { glossary_ids: [UUID] }, { glossary_ids: [UUID, other] }, { glossary_ids: six }]) {
      const body = { text: ['a'], source_lang: 'EN', target_lang: 'DE', ...named };
      expect(expectProblem(await post(body, own.key), 404, 'glossary_not_found')).toMatch(/no glossary with this id/);
    }
    expect(setting.engine.requests).toEqual([]);
    await expectUncharged(own);
  });

  test('an unknown path is 404 with a good key, and an authorization failure with a bad one', async () => {
    await expect(client(team.key).rephraseText('a', 'de')).rejects.toThrow(/Not found.*has no rephrasing/);
    await expect(client('invalid').rephraseText('a', 'de')).rejects.toThrow(deepl.AuthorizationError);
    for (const path of ['/v2/document', '/v3/style_rules']) {
      const sent = { method: 'POST', path, body: 'x'.repeat(1000), headers: { 'content-type': 'multipart/form-data; boundary=x' } };
      expectProblem(await ask(setting, { ...sent, key: team.key }), 404, 'not_found');
      expectProblem(await ask(setting, { ...sent, key: 'invalid' }), 403, 'unauthorized');
    }
  });
});
