// Limits of tags by each front, on both stores and with a second gateway: set, replace, list, disable, delete, what is refused, and why.
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { EVENTS_SECRET, startScriptedReceiver } from '../support/event-receiver.ts';
import { expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestGateway, TestTeam } from '../support/gateway.ts';
import { inProcess, parsed } from '../support/lingate-command.ts';
import type { Ended } from '../support/lingate-command.ts';
import type { HttpResponse } from '../support/raw-http.ts';
import { startedUntil } from '../support/started.ts';
import { writtenOnce } from '../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const UNKNOWN = '01JD3Q7V6Y8Z0XKQ4T5N2M9HRC';
const receiver = await startScriptedReceiver();
afterAll(() => receiver.close());
const CONFIG = {
  admin: { token: TOKEN },
  limits: { tags: 3 },
  plans: { pro: QUOTA_PLAN },
  events: { url: receiver.url, secret: EVENTS_SECRET },
};

onOneGateway({ config: CONFIG }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const run = (...args: readonly string[]): Promise<Ended> =>
    inProcess([...args, '--config', fileWith(JSON.stringify({ plans: { pro: QUOTA_PLAN }, limits: { tags: 3 } })), '--store', setting.url]);
  const cli = async (...args: readonly string[]): Promise<Json> => parsed(await run(...args, '--json')) as Json;
  const started = startedUntil(afterAll);
  let other: TestGateway;

  beforeAll(async () => {
    const { listener, url, engine } = setting;
    other = await started.gateway({ listener, store: url, engineUrls: [engine.url], config: CONFIG });
  });

  const translate = ({ key }: TestTeam, tag?: string, gateway = setting.gateway): Promise<HttpResponse> =>
    translateText({ gateway }, key, 'four', tag === undefined ? {} : { 'lingate-tag': tag });
  /** By each gateway. */
  const statuses = async (team: TestTeam, tag?: string): Promise<number[]> => [
    (await translate(team, tag)).status,
    (await translate(team, tag, other)).status,
  ];
  const pathOf = ({ teamId }: Pick<TestTeam, 'teamId'>, tag: string): string => `/teams/${teamId}/tags/${encodeURIComponent(tag)}`;
  const put = (team: Pick<TestTeam, 'teamId'>, tag: string, body: unknown) => call('PUT', pathOf(team, tag), { body });
  const nothingUsed = { used: { characters: 0 } };

  describe('the admin API', () => {
    test('sets, shows, replaces, lists and deletes', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      const limits = [
        { per: 'day', characters: 900 },
        { per: 'minute', requests: 60 },
      ];
      const set = await answered('setTag', put(team, 'Acme', { characters: 100, requests_per_second: 5, limits }));
      expect(set).toMatchObject({ tag: 'acme', disabled: false, characters: 100, requests_per_second: 5, used: { characters: 0 } });
      // The shortest time comes first.
      expect(set['limits']).toEqual(limits.toReversed());
      expect(await answered('showTag', call('GET', pathOf(team, ' ACME ')))).toMatchObject({ tag: 'acme', characters: 100 });
      await answered('setTag', put(team, 'b2b/EU~1%', { limits: null, disabled: true }));
      const replaced = await answered('setTag', put(team, 'acme', { characters: 7 }));
      expect(replaced).toEqual({ tag: 'acme', disabled: false, characters: 7, ...nothingUsed });
      expect(await answered('listTags', call('GET', `/teams/${team.teamId}/tags`))).toEqual({
        tags: [replaced, { tag: 'b2b/eu~1%', disabled: true, ...nothingUsed }],
      });
      await answered('deleteTag', call('DELETE', pathOf(team, 'acme')));
      expectProblem(await call('DELETE', pathOf(team, 'acme')), 'not_found');
      expectProblem(await call('GET', pathOf(team, 'acme')), 'not_found');
      expect(await answered('listTags', call('GET', `/teams/${team.teamId}/tags`))).toMatchObject({ tags: [{ tag: 'b2b/eu~1%' }] });
    });

    test.each([
      [{ characters: 0 }, 'characters: 0 is too small; it must be at least 1.'],
      [{ requests_per_second: 1.5 }, 'requests_per_second: 1.5 is not a whole number from 1 to 100000.'],
      [{ limits: [] }, 'limits: has too few entries; it must have at least 1.'],
      [
        {
          limits: [
            { per: 'day', requests: 1 },
            { per: 'year', requests: 1 },
          ],
        },
        'limits[1].per: "year" is not one of minute, hour,',
      ],
      [{ disabled: 'yes' }, 'disabled: '],
      [{ expires_at: '2099-01-01T00:00:00Z' }, 'expires_at: is not known; the known ones are '],
      [[], 'body: must be a JSON object.'],
      [{}, 'body: there is nothing to set; give a limit or disabled'],
    ])('%j is refused by its name, and changes nothing', async (body, words) => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      await answered('setTag', put(team, 'acme', { characters: 5 }));
      expect(expectProblem(await put(team, 'acme', body), 'validation_error')).toContain(words);
      expect(await answered('showTag', call('GET', pathOf(team, 'acme')))).toMatchObject({ tag: 'acme', characters: 5 });
    });

    test('a wrong tag, an unknown team and a tag too many are refused', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      for (const segment of ['a%20b', '%ff', '%', '%C3%A4', 'x'.repeat(101), '%20']) {
        const response = await call('PUT', `/teams/${team.teamId}/tags/${segment}`, { body: { characters: 1 } });
        expect([segment, expectProblem(response, 'validation_error')]).toEqual([
          segment,
          expect.stringMatching(/^tag: .* is not a tag: it must be 1 to 100 printable ASCII characters without spaces, and no API key\.$/),
        ]);
      }
      expectProblem(await call('PUT', `/teams/${team.teamId}/tags/`, { body: {} }), 'not_found');
      expectProblem(await call('PATCH', pathOf(team, 'a'), { body: {} }), 'method_not_allowed');
      for (const teamId of [UNKNOWN, 'nobody']) {
        for (const response of [
          await put({ teamId }, 'a', { characters: 1 }),
          await call('GET', pathOf({ teamId }, 'a')),
          await call('DELETE', pathOf({ teamId }, 'a')),
          await call('GET', `/teams/${teamId}/tags`),
        ]) {
          expect(expectProblem(response, 'not_found')).toBe('There is no team with this id.');
        }
      }
      for (const tag of ['a', 'b', 'c', 'a']) await answered('setTag', put(team, tag, { characters: 1 }));
      expect(expectProblem(await put(team, 'd', { characters: 1 }), 'validation_error')).toMatch(
        /^tag: limits\.tags allows limits for 3 tags of a team/,
      );
      await answered('deleteTag', call('DELETE', pathOf(team, 'b')));
      await answered('setTag', put(team, 'd', { characters: 1 }));
    });
  });

  test('a disabled tag is refused at its next request by every gateway, whatever its case, until it is enabled', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    expect(await statuses(team, 'acme')).toEqual([200, 200]);
    await answered('setTag', put(team, 'acme', { disabled: true }));
    expect(await statuses(team, ' ACME ')).toEqual([403, 403]);
    expect(expectProblem(await translate(team, 'acme'), 'forbidden')).toContain('disabled');
    expect([await statuses(team, 'acme2'), await statuses(team)]).toEqual([
      [200, 200],
      [200, 200],
    ]);
    await answered('setTag', put(team, 'acme', { characters: 1000 }));
    expect(await statuses(team, 'acme')).toEqual([200, 200]);
  });

  test('limits refuse with whose they are, in the answer and the log, and are reported once', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    await answered('setTag', put(team, 'by-characters', { characters: 6 }));
    await answered('setTag', put(team, 'by-window', { limits: [{ per: 'month', requests: 1 }] }));
    await answered('setTag', put(team, 'by-rate', { requests_per_second: 1 }));
    expect((await translate(team, 'by-characters')).status).toBe(200);
    const ended = expect.stringMatching(/Z$/) as string;
    const exceeded = await translate(team, 'by-characters', other);
    expect(expectProblem(exceeded, 'quota_exceeded', { character_limit: 6, overage_cap_minor: 0, period_end: ended })).toContain(
      'this tag',
    );
    /** A month or a second may end between two requests. */
    const refusedBy = async (tag: string, members: Json): Promise<void> => {
      const some = () => Promise.all(Array.from({ length: 5 }, () => translate(team, tag)));
      let refused: HttpResponse | undefined;
      await expect
        .poll(
          async () => {
            refused = (await some()).find(({ status }) => status === 429);
            return refused?.status;
          },
          { interval: 0 },
        )
        .toBe(429);
      expect(expectProblem(refused!, 'rate_limited', members)).toContain('this tag');
    };
    await refusedBy('by-window', { limit: 1, limit_of: 'tag:month:requests' });
    await refusedBy('by-rate', { limit: 1 });
    const limitsOf = () =>
      new Set(
        setting.gateway.logLines
          .map((line) => JSON.parse(line) as Json)
          .filter(({ team_id: id, status }) => id === team.teamId && (status === 429 || status === 402))
          .map(({ limit_of: of }) => of),
      );
    await expect.poll(limitsOf).toEqual(new Set(['tag:month:requests', 'tag']));
    const events = () =>
      receiver.received
        .filter(({ subject, type }) => subject === team.teamId && type === 'lingate.limit.reached')
        .map(({ data }) => data as Json)
        .map(({ tag, code, window = null, limit_of: of = null, required_characters: needed = null }) =>
          JSON.stringify([tag, code, window, of, needed]),
        );
    // A month may end meanwhile: then there is an event for each.
    await expect
      .poll(() => new Set(events()))
      .toEqual(new Set(['["by-characters","quota_exceeded",null,null,4]', '["by-window","rate_limited","month","tag:month:requests",4]']));
  });

  describe('the command line', () => {
    test('sets, replaces, lists and deletes', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      const { teamId } = team;
      const limits = ['--limit', 'requests=60/minute', '--limit', 'characters=900/day'];
      const set = await cli('tag', 'set', teamId, 'Acme', '--characters', '100', '--requests-per-second', '5', ...limits);
      // A minute may end in between.
      const used = expect.any(Object) as object;
      expect({ ...(await answered('showTag', call('GET', pathOf(team, 'acme')))), used }).toEqual({ ...set, used });
      expect((await run('tag', 'set', teamId, 'b2b/eu', '--disable')).stdout).toMatch(/^status +disabled$/m);
      expect(await statuses(team, 'b2b/eu')).toEqual([403, 403]);
      const shown = (await run('tag', 'list', teamId)).stdout.split('\n').map((line) => line.split(/ {2,}/));
      expect(shown).toEqual([
        ['TAG', 'STATUS', 'LIMITS', 'USED'],
        [
          'acme',
          'active',
          '5/s, 100 characters, 60 requests/minute, 900 characters/day',
          '0 characters in the period, 0 of 60 requests this minute, 0 of 900 characters this day',
        ],
        ['b2b/eu', 'disabled', '-', '0 characters in the period'],
        [''],
      ]);
      expect(await cli('tag', 'set', teamId, 'b2b/eu', '--characters', '50')).toMatchObject({ disabled: false, characters: 50 });
      expect(await statuses(team, 'b2b/eu')).toEqual([200, 200]);
      expect(await cli('tag', 'delete', teamId, 'ACME')).toEqual({ tag: 'acme', team_id: teamId, status: 'deleted' });
      expect(await cli('tag', 'list', teamId)).toMatchObject({ tags: [{ tag: 'b2b/eu' }] });
      await cli('tag', 'delete', teamId, 'b2b/eu');
      expect((await run('tag', 'list', teamId)).stdout).toBe('This team has no tags with limits.\n');
    });
  });

  describe('the console', () => {
    const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ');

    test('shows a team’s tags with what they used; a tag is limited, disabled, enabled and released', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      const visitor = await ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
      await translate(team, 'Acme <b>'.replace(' ', '-'));
      const [home, list] = [`/console/teams/${team.teamId}`, `/console/teams/${team.teamId}/tags`];
      expect((await visitor.get(home)).body).toContain(`href="${list}"`);
      await expect.poll(async () => textOf((await visitor.get(list)).body)).toContain('acme-&lt;b&gt; 4 1');
      const { body } = await visitor.get(list);
      const page = /href="(\/console\/teams\/\w+\/tag\?tag=[^"]+)"/.exec(body)![1]!.replaceAll('&amp;', '&');
      const here = `/console/teams/${team.teamId}/tag`;
      const seen = async (answer: HttpResponse): Promise<string> => {
        expect([answer.status, answer.body]).toEqual([303, '']);
        return textOf((await visitor.get(answer.header('location')!)).body);
      };
      const tag = 'acme-<b>';
      const fields = { tag, requests_per_second: '5', characters: '100', limits: 'requests=60/minute\r\ncharacters=900/day' };
      expect(await seen(await visitor.submit(page, here, fields))).toContain(`Tag acme-&lt;b&gt; is saved.`);
      expect(await answered('showTag', call('GET', pathOf(team, tag)))).toMatchObject({ requests_per_second: 5, characters: 100 });
      expect(await seen(await visitor.submit(page, `${here}/disable`, { tag }))).toContain('requests with it are refused');
      expect(await statuses(team, tag)).toEqual([403, 403]);
      // The limits of a disabled tag can be changed, and stay when it is enabled.
      await seen(await visitor.submit(page, here, { tag, requests_per_second: '', characters: '200', limits: '' }));
      expect(await statuses(team, tag)).toEqual([403, 403]);
      expect(await seen(await visitor.submit(page, `${here}/enable`, { tag }))).toContain('is enabled');
      expect(await answered('showTag', call('GET', pathOf(team, tag)))).toMatchObject({ tag, disabled: false, characters: 200 });
      expect(await statuses(team, tag)).toEqual([200, 200]);
      expect(await seen(await visitor.submit(page, `${here}/delete`, { tag }))).toContain('has no limits any more');
      expectProblem(await call('GET', pathOf(team, tag)), 'not_found');
      expect((await visitor.get(page)).body).not.toContain('Remove the limits');
    });
  });
});
