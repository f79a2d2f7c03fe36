// Filters of teams and of the audit, on both stores: admin API, command line and console find the same; the busiest teams are on the overview.
import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ConsoleVisitor } from '../support/console-visitor.ts';
import { expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import { untilOneDay } from '../support/one-day.ts';

const TOKEN = randomBytes(24).toString('hex');
const SMALL = { ...QUOTA_PLAN, characters: 10, overage_cap_minor: 0, overage_minor_per_million: 0 };
const PREPAID = {
  billing: 'credit',
  requests_per_second: 50,
  max_characters_per_request: 1000,
  max_glossaries: 1,
  credit_minor_per_million: 2_000_000,
  currency: 'EUR',
};
const PLANS = { small: SMALL, other: QUOTA_PLAN, prepaid: PREPAID };

await untilOneDay();
onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const { call, answered } = adminClient(setting, TOKEN);
  const ids: Record<string, string> = {};

  const made = async (name: string, plan: string, more: Json = {}): Promise<{ id: string; key: string }> => {
    const { team_id } = await answered('createTeam', call('POST', '/teams', { body: { name, plan, ...more } }));
    const { key } = await answered('createKey', call('POST', `/teams/${String(team_id)}/keys`, { body: { mode: 'live', label: 'site' } }));
    ids[name] = String(team_id);
    return { id: String(team_id), key: String(key) };
  };
  const translate = async (key: string, text: string): Promise<number> => (await translateText(setting, key, text)).status;
  const operator = () => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);

  beforeAll(async () => {
    const [full, half, , broke] = [
      await made('Full', 'small'),
      await made('Half', 'small'),
      await made('Idle', 'other'),
      await made('Broke', 'prepaid', { credit_minor: 10 }),
      await made('Rich', 'prepaid', { credit_minor: 100_000 }),
    ];
    // A character costs two minor units.
    expect([await translate(full.key, '0123456789'), await translate(half.key, '01234'), await translate(broke.key, '01234')]).toEqual([
      200, 200, 200,
    ]);
    expect(await translate(full.key, 'x')).toBe(402);
    const settled = async (): Promise<unknown[]> =>
      Promise.all(
        [full, half, broke].map(async ({ id }) => (await answered('teamUsage', call('GET', `/teams/${id}/usage`)))['character_count']),
      );
    await vi.waitFor(async () => expect(await settled()).toEqual([10, 5, 5]), { timeout: 60_000 });
    await answered('updateTeam', call('PATCH', `/teams/${half.id}`, { body: { name: 'Half again' } }));
    ids['Half again'] = half.id;
  });

  describe('of teams', () => {
    test.each([
      ['plan=small', ['Full', 'Half again']],
      ['standing=over_quota', ['Full']],
      ['standing=near_limit', ['Full', 'Broke']],
      ['standing=out_of_credit', ['Broke']],
      ['standing=near_limit&plan=prepaid', ['Broke']],
      ['plan=gone', []],
      ['plan=small&q=again', ['Half again']],
      ['plan=&standing=', ['Full', 'Half again', 'Idle', 'Broke', 'Rich']],
    ])('%s', async (query, names) => {
      const page = await answered('listTeams', call('GET', `/teams?${query}`));
      expect((page['teams'] as Json[]).map((team) => team['name'])).toEqual(names);
      expect(page['next']).toBeNull();
      const shown = (await (await operator()).get(`/console/teams?${query}`)).body;
      const linked = [...shown.matchAll(/scope="row"><a href="\/console\/teams\/(\w+)"/g)].map(([, id]) => id);
      expect(linked).toEqual(names.map((name) => ids[name]));
    });

    test('a wrong one is a 400 that names it, and beside the form in the console', async () => {
      const detail = expectProblem(await call('GET', '/teams?standing=rich'), 'validation_error');
      expect(detail).toBe('standing: "rich" is not one of near_limit, over_quota, out_of_credit.');
      const page = await (await operator()).get('/console/teams?standing=rich');
      expect([page.status, page.body]).toEqual([
        400,
        expect.stringContaining(`<p class="fault" role="alert">${detail.replaceAll('"', '&quot;')}</p>`),
      ]);
    });
  });

  describe('of the audit', () => {
    const today = new Date().toISOString().slice(0, 10);
    const actionsOf = async (query: string): Promise<unknown[]> => {
      const { entries } = await answered('listAudit', call('GET', `/audit?${query}`));
      return (entries as Json[]).map(
        (entry) => `${String(entry['action'])} ${Object.keys(ids).find((name) => ids[name] === entry['team_id'])}`,
      );
    };

    test('by action, actor and day, alone and together', async () => {
      expect(await actionsOf('action=updateTeam')).toEqual(['updateTeam Half']);
      expect((await actionsOf('action=createTeam&actor=ADMIN:')).length).toBe(5);
      expect(await actionsOf('actor=cli:')).toEqual([]);
      const changes = (await actionsOf(`day=${today}&limit=200`)).filter((action) => !String(action).startsWith('sign_'));
      expect(changes.length).toBe(11);
      expect(new Set(await actionsOf('action=sign_in&actor=console:admin@'))).toEqual(new Set(['sign_in undefined']));
      expect(await actionsOf('day=2020-02-29')).toEqual([]);
      expect(await actionsOf(`team=${ids['Full']}&action=createKey&day=${today}`)).toEqual(['createKey Full']);
      expect(expectProblem(await call('GET', '/audit?day=yesterday'), 'validation_error')).toContain('day: "yesterday" is not a UTC day');
    });

    test('in the console, with names of teams and beginnings of keys instead of ids, and the ids within reach', async () => {
      const page = (await (await operator()).get(`/console/audit?action=createKey&team=${ids['Full']}&day=${today}`)).body;
      expect(page).toContain(`<a href="/console/teams/${ids['Full']}" title="${ids['Full']}">Full</a>`);
      expect(page).toMatch(/<a href="\/console\/teams\/\w+\/keys\/(\w+)" title="\1"\s*><code>la_live_\w{4}…<\/code><\/a\s*>\s*site/);
      expect(page).toContain('<span class="short" title="createKey">key created</span>');
      const all = (await (await operator()).get('/console/audit?action=updateTeam')).body;
      expect(all.match(/<tr role="row">/g)).toHaveLength(2);
      expect(all).toContain('<del>Half</del> <ins>Half again</ins>');
      expect((await (await operator()).get('/console/audit?day=2020-02-29')).body).toContain('There are no such changes.');
    });
  });

  test.each(['requests', 'documents', 'audit'])('a wrong cursor of %s is a 400 that says so beside the form', async (path) => {
    const page = await (await operator()).get(`/console/${path}?cursor=abc`);
    const fault = '<p class="fault" role="alert">cursor: must be the `next` of the previous page.</p>';
    expect([page.status, page.body]).toEqual([400, expect.stringContaining(fault)]);
    expect((await (await operator()).get(`/console/${path}?cursor=`)).status).toBe(200);
  });

  test('the busiest teams of the last 15 minutes, by requests and by characters, with their names', async () => {
    const page = (await (await operator()).get('/console')).body;
    const part = page.slice(page.indexOf('data-part="busiest"'), page.indexOf('id="minutes"'));
    const [requests, characters] = part.split('By characters').map((text) => {
      const rows = [...text.matchAll(/<tr role="row">([\s\S]*?)<\/tr>/g)].map(([row]) =>
        row
          .replaceAll(/<[^>]*>/g, ' ')
          .trim()
          .split(/\s{2,}/),
      );
      return rows.slice(1);
    });
    expect(requests![0]).toEqual(['Full', '2', '1', '10']);
    expect(characters!.map(([name]) => name)).toEqual(['Full', 'Half again', 'Broke']);
    expect(part).toContain('by this gateway.');
  });
});
