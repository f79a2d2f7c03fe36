// Tags over real sockets: their header, what is refused, what is counted under them for callers, operators and DeepL's own report.
import { randomBytes } from 'node:crypto';
import { DeepLClient } from 'deepl-node';
import { describe, expect, test } from 'vitest';
import { answered, dateOf, dayOf } from '../../src/index.ts';
import { adminClient } from '../support/admin-client.ts';
import { ask, expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import type { HttpResponse } from '../support/raw-http.ts';

const TOKEN = randomBytes(24).toString('hex');
const CONFIG = {
  admin: { token: TOKEN },
  limits: { tags: 3 },
  plugins: [{ module: 'lingate/plugins/deepl-v2' }, { module: 'lingate/plugins/google-v3' }],
};

onOneGateway({ config: CONFIG }, (setting) => {
  const { call, listed } = adminClient(setting, TOKEN);
  const translate = ({ key }: TestTeam, text: string, headers = {}) => translateText(setting, key, text, headers);
  /** Once everything is settled. Midnight may pass meanwhile. */
  const settled = async ({ teamId }: TestTeam, characters: number): Promise<void> => {
    await expect
      .poll(() => setting.gateway.store.teams.standing(teamId))
      .toMatchObject({ usedCharacters: characters, openReservations: 0 });
  };
  const dates = (): [string, string] => {
    const today = dayOf(Date.now());
    return [dateOf(today - 2), dateOf(today + 2)];
  };
  const rowsOf = async ({ teamId }: TestTeam, limit = 200): Promise<[unknown, unknown, unknown][]> => {
    const [from, to] = dates();
    const rows = await listed('listUsage', `/usage?from=${from}&to=${to}&by=total&team=${teamId}&tags=true&limit=${limit}`, 'usage');
    return rows.map((row) => [row['tag'], row['character_count'], row['request_count']]);
  };

  test('usage is reported by tag, and adds up to the team’s with what has none', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    for (const [text, tag] of [
      ['one', 'Acme'],
      ['three', ' acme\t'],
      ['seven', 'b2b/EU~1'],
      ['eleven', ''],
      ['none', undefined],
    ] as const) {
      expect((await translate(team, text, tag === undefined ? {} : { 'Lingate-Tag': tag })).status).toBe(200);
    }
    await settled(team, 23);
    const rows = [
      ['acme', 8, 2],
      ['b2b/eu~1', 5, 1],
      [null, 10, 2],
    ];
    expect(await rowsOf(team)).toEqual(rows);
    expect(await rowsOf(team, 1)).toEqual(rows);
    const [from, to] = dates();
    const csv = await call('GET', `/usage?from=${from}&to=${to}&by=total&team=${team.teamId}&tags=true&format=csv`);
    expect(csv.body.split('\r\n').map((line) => line.split(',').slice(3).join(','))).toEqual([
      'date,character_count,request_count,tag,reference',
      ',8,2,acme,',
      ',5,1,b2b/eu~1,',
      ',10,2,,',
      '',
    ]);
  });

  test('beyond the most that are counted, tags are counted together', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    for (const tag of ['a', 'b', 'c', 'd', 'e', 'a']) expect((await translate(team, 'four', { 'Lingate-Tag': tag })).status).toBe(200);
    await settled(team, 24);
    const rows = await rowsOf(team);
    // Which of them are counted depends on which was settled first.
    expect(rows).toHaveLength(4);
    expect(rows[0]![0]).toBe('*');
    expect(rows.reduce((sum, [, characters]) => sum + Number(characters), 0)).toBe(24);
  });

  test.each([['a b'], ['aäb'], ['x'.repeat(101)], ['a\tb']])('%j is refused, after the key and before anything is charged', async (tag) => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    const headers = { 'Lingate-Tag': Buffer.from(tag).toString('latin1') };
    expect(expectProblem(await translate(team, 'a', headers), 'validation_error')).toMatch(
      /^Lingate-Tag: must be 1 to 100 printable ASCII/,
    );
    expectProblem(await ask(setting, { path: '/v1/usage', key: team.key, headers }), 'validation_error');
    await setting.gateway.store.teams.revokeKey(team.keyId);
    expectProblem(await translate(team, 'a', headers), 'key_revoked');
    expect(answered(await setting.gateway.store.teams.standing(team.teamId))).toMatchObject({ usedCharacters: 0, heldCharacters: 0 });
  });

  test('keys and tags exclude each other, and a wrong value is refused by its name', async () => {
    const [from, to] = dates();
    for (const query of ['tags=1', 'tags=true&keys=true']) {
      const response = await call('GET', `/usage?from=${from}&to=${to}&${query}`);
      expect([response.status, response.body]).toEqual([400, expect.stringContaining('"tags: ') as string]);
    }
  });

  describe('DeepL’s client', () => {
    test('has its own header, and its report', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      const options = { serverUrl: `http://127.0.0.1:${setting.gateway.port}`, headers: { 'X-DeepL-Reporting-Tag': 'Website' } };
      await new DeepLClient(team.key, options).translateText(['Hello', 'you'], 'en', 'de');
      await translate(team, 'none');
      await settled(team, 12);
      const [start, end] = dates();
      const report = (query: string) => ask(setting, { path: `/v2/admin/analytics/custom-tags?${query}`, key: team.key });
      const found = await report(`start_date=${start}&end_date=${end}`);
      expect(found.json()).toEqual({
        custom_tag_usage_report: {
          aggregate_by: 'period',
          start_date: start,
          end_date: end,
          next_page: null,
          usage: [
            {
              custom_tag: 'website',
              breakdown: { total_characters: 8, text_translation_characters: 8, text_improvement_characters: 0 },
            },
          ],
        },
      });
      const byDay = (await report(`start_date=${start}&end_date=${end}&aggregate_by=day`)).json() as {
        custom_tag_usage_report: { usage: { usage_date: string }[] };
      };
      expect(byDay.custom_tag_usage_report.usage.map((row) => Object.keys(row))).toEqual([['custom_tag', 'usage_date', 'breakdown']]);
      expect((await report(`start_date=${start}&end_date=${end}&page=2`)).json()).toMatchObject({ custom_tag_usage_report: { usage: [] } });
      for (const query of [
        '',
        `start_date=${start}`,
        `start_date=${end}&end_date=${start}`,
        `start_date=${start}&end_date=${end}&page=0`,
      ]) {
        expect((await report(query)).status).toBe(400);
      }
      const [headers, body] = [{ 'x-deepl-reporting-tag': 'a b' }, { text: ['a'], target_lang: 'DE' }];
      const refused = await ask(setting, { method: 'POST', path: '/v2/translate', key: team.key, headers, body });
      expect([refused.status, refused.body]).toEqual([400, expect.stringContaining('X-DeepL-Reporting-Tag: ') as string]);
    });
  });

  test('Google’s label is a tag, and the header of every route comes before it', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    const post = (labels: object, headers = {}): Promise<HttpResponse> =>
      ask(setting, {
        method: 'POST',
        path: '/v3/projects/p:translateText',
        headers: { 'x-goog-api-key': team.key, ...headers },
        body: { contents: ['four'], targetLanguageCode: 'de', labels },
      });
    const labelled = [await post({ customer: ' Acme' }), await post({ cost_centre: 'acme' }), await post({})];
    labelled.push(await post({ customer: 'acme' }, { 'Lingate-Tag': 'other' }));
    expect(labelled.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await settled(team, 16);
    expect(await rowsOf(team)).toEqual([
      ['acme', 8, 2],
      ['other', 4, 1],
      [null, 4, 1],
    ]);
  });
});
