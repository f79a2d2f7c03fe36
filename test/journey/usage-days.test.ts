// Usage by day over real sockets: GET /v1/usage with from and to for callers, /admin/v1/usage and periods for operators.
import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { UsageAnswer } from '../support/door/tables.ts';
import { dateOf, dayOf } from '../../src/index.ts';
import { adminClient } from '../support/admin-client.ts';
import type { Json } from '../support/admin-client.ts';
import { ask, expectAnswer, expectProblem, onOneGateway, translateText } from '../support/every-gateway.ts';
import type { Setting } from '../support/every-gateway.ts';
import { QUOTA_PLAN } from '../support/gateway.ts';
import type { TestTeam } from '../support/gateway.ts';
import { untilOneDay } from '../support/one-day.ts';

const TOKEN = randomBytes(24).toString('hex');
const BEYOND = { ...QUOTA_PLAN, characters: 10, overage_cap_minor: 80, overage_minor_per_million: 2_000_000 };

/** Includes today, even if midnight passes meanwhile. */
function range(): string {
  const today = dayOf(Date.now());
  return `from=${dateOf(today - 1)}&to=${dateOf(today + 1)}`;
}

async function translated(setting: Setting, { teamId, key }: TestTeam, ...texts: readonly string[]): Promise<void> {
  const before = await setting.gateway.store.teams.standing(teamId);
  for (const text of texts) expect((await translateText(setting, key, text)).status).toBe(200);
  const characters = texts.join('').length + (before !== undefined && !('kind' in before) ? before.usedCharacters : 0);
  await expect.poll(() => setting.gateway.store.teams.standing(teamId)).toMatchObject({ usedCharacters: characters, openReservations: 0 });
}

const sums = (rows: readonly Json[]) =>
  rows.reduce<[number, number]>((sum, row) => [sum[0] + Number(row['character_count']), sum[1] + Number(row['request_count'])], [0, 0]);

await untilOneDay();
onOneGateway({}, (setting) => {
  const usage = (key: string, query: string) => ask(setting, { path: `/v1/usage${query}`, key });

  test('a caller gets the days with use, and without a range the same answer as always', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    const bare = expectAnswer(await usage(team.key, ''), UsageAnswer);
    expect(expectAnswer(await usage(team.key, `?${range()}`), UsageAnswer)).toMatchObject({ ...bare, keys: [{}], days: [] });
    await translated(setting, team, 'twelve chars', 'four');
    const { days, ...rest } = expectAnswer(await usage(team.key, `?${range()}`), UsageAnswer);
    expect(sums(days as Json[])).toEqual([16, 2]);
    const after = expectAnswer(await usage(team.key, ''), UsageAnswer);
    expect(Object.keys(after)).toEqual(Object.keys(rest));
    expect(after).not.toHaveProperty('days');
    expect(after).toMatchObject({ character_count: 16 });
    // No use before the team was created, and none in the year 9999.
    for (const none of ['?from=1969-12-01&to=1970-12-31', '?from=9999-12-01&to=9999-12-31']) {
      expect(expectAnswer(await usage(team.key, none), UsageAnswer)['days']).toEqual([]);
    }
  });

  test('only of its own team', async () => {
    const [one, other] = [await setting.gateway.team(QUOTA_PLAN), await setting.gateway.team(QUOTA_PLAN)];
    await translated(setting, other, 'not yours');
    expect(expectAnswer(await usage(one.key, `?${range()}`), UsageAnswer)['days']).toEqual([]);
  });

  test.each([
    ['from=2026-11-01', 'to'],
    ['to=2026-11-01', 'from'],
    ['from=2026-02-30&to=2026-03-01', 'from'],
    ['from=26-1-1&to=2026-03-01', 'from'],
    ['from=2026-03-02&to=2026-03-01', 'to'],
    ['from=2025-10-18&to=2026-11-22', 'to'],
    ['from=&to=', 'from'],
    ['from=2026-11-01&from=2026-11-02&to=2026-11-03', 'from'],
    ['from=2026-11-01&to=2026-11-02&to=2026-11-03', 'to'],
    ['from=%ff&to=2026-11-02', 'from'],
  ])('%s is refused by the name of %s, after the admission', async (query, field) => {
    const team = await setting.gateway.team({ ...QUOTA_PLAN, requests_per_second: 1 });
    expect(expectProblem(await usage(team.key, `?${query}`), 'validation_error')).toMatch(new RegExp(`^${field}: `));
    // It has taken the only slot of this second.
    const next = await usage(team.key, `?${query}`);
    if (next.status !== 400) expectProblem(next, 'rate_limited', { limit: 1 });
  });

  test('a revoked key is refused before its dates are checked', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    await setting.gateway.store.teams.revokeKey(team.keyId);
    expectProblem(await usage(team.key, '?from=1'), 'key_revoked');
  });

  test('other parameters are ignored as before', async () => {
    const team = await setting.gateway.team(QUOTA_PLAN);
    expect(expectAnswer(await usage(team.key, '?_=1&form=2026-11-01'), UsageAnswer)).not.toHaveProperty('days');
  });
});

onOneGateway({ config: { admin: { token: TOKEN } } }, (setting) => {
  const { call, answered, listed } = adminClient(setting, TOKEN);
  const rowsOf = (query: string): Promise<Json[]> => listed('listUsage', `/usage?${query}`, 'usage');

  describe('all teams', () => {
    test('are one CSV file', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      await setting.gateway.store.teams.updateTeam(team.teamId, { name: '=1+1, "Équipe"' });
      await translated(setting, team, 'hello');
      const answer = await call('GET', `/usage?${range()}&by=total&format=csv&limit=1`);
      expect([answer.status, answer.header('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
      expect(answer.header('content-disposition')).toMatch(/^attachment; filename="usage-\d{4}-\d\d-\d\d-to-\d{4}-\d\d-\d\d\.csv"$/);
      expect([answer.header('x-request-id'), answer.header('cache-control')]).toEqual([expect.stringMatching(/^\w{26}$/), 'no-store']);
      const lines = answer.body.split('\r\n');
      expect(lines[0]).toBe('team_id,name,plan,date,character_count,request_count,test_character_count,reference');
      expect(lines.slice(1).filter((line) => line !== '')).toHaveLength((await rowsOf(`${range()}&by=total`)).length);
      expect(lines).toContain(`${team.teamId},"'=1+1, ""Équipe""",test,,5,1,0,`);
    });

    test('without from and to are those of the month', async () => {
      const team = await setting.gateway.team(QUOTA_PLAN);
      await translated(setting, team, 'now');
      const [row] = await rowsOf(`by=month&team=${team.teamId}`);
      expect(row).toEqual({
        team_id: team.teamId,
        name: 'Test',
        plan: 'test',
        date: dateOf(dayOf(Date.now())).slice(0, 7),
        character_count: 3,
        request_count: 1,
        test_character_count: 0,
      });
      const [ofKey] = await rowsOf(`by=total&keys=true&team=${team.teamId}`);
      expect(ofKey).toMatchObject({ date: null, key_id: team.keyId, display: team.key.slice(0, 12), label: 'test', mode: 'live' });
    });
  });

  test('the current period is reported with its sums so far', async () => {
    const team = await setting.gateway.team(BEYOND);
    await translated(setting, team, 'twelve chars');
    const usage = expectAnswer(await ask(setting, { path: '/v1/usage', key: team.key }), UsageAnswer);
    const { periods } = await answered('listPeriods', call('GET', `/teams/${team.teamId}/periods`));
    expect(periods).toEqual([
      {
        period_start: usage['period_start'],
        period_end: usage['period_end'],
        closed: false,
        plan: 'test',
        billing: 'quota',
        character_count: 12,
        test_character_count: 0,
        character_limit: 10,
        overage: usage['overage'],
      },
    ]);
  });

  test('a period that has ended is reported as closed, before the current one', async () => {
    const team = await setting.gateway.team({ ...BEYOND, period: 'PT1S' });
    expect((await translateText(setting, team.key, 'twelve chars')).status).toBe(200);
    const path = `/teams/${team.teamId}/periods`;
    const closed = async (): Promise<Json | undefined> =>
      ((await answered('listPeriods', call('GET', path)))['periods'] as Json[]).find(
        (one) => one['closed'] === true && one['character_count'] !== 0,
      );
    await expect.poll(closed, { interval: 200 }).toMatchObject({ character_count: 12, character_limit: 10 });
    const { periods } = await answered('listPeriods', call('GET', path));
    const starts = (periods as Json[]).map((one) => String(one['period_start']));
    expect(starts).toEqual(starts.toSorted().toReversed());
    expect((periods as Json[])[0]).toMatchObject({ closed: false, character_count: 0 });
  });

  test.each([
    ['/usage?from=2026-11-01', 'to'],
    ['/usage?from=2026-02-30&to=2026-03-01', 'from'],
    ['/usage?from=2026-03-02&to=2026-03-01', 'to'],
    ['/usage?from=2025-10-18&to=2026-11-22', 'to'],
    ['/usage?by=week', 'by'],
    ['/usage?keys=yes', 'keys'],
    ['/usage?team=acme', 'team'],
    ['/usage?team=01JD3Q7V6Y8Z0XKQ4T5N2M9HRC', 'team'],
    ['/usage?team=01JD3Q7V6Y8Z0XKQ4T5N2M9HRC&format=csv', 'team'],
    ['/usage?limit=0', 'limit'],
    ['/usage?limit=201', 'limit'],
    ['/usage?limit=x&format=csv', 'limit'],
    ['/usage?format=xml', 'format'],
    ['/usage?cursor=1', 'cursor'],
    ['/usage?cursor=MDFKRDNRN1Y2WThaMFhLUTRUNU4yTTlIUkMvMDEyMzQ1Njc4OWFi', 'cursor'],
    ['/usage?cursor=1&format=csv', 'cursor'],
    ['/usage?by=day&by=month', 'by'],
  ])('%s is refused by the name of %s', async (path, field) => {
    expect(expectProblem(await call('GET', path), 'validation_error')).toMatch(new RegExp(`^${field}: `));
  });

  test('requires the token, and other methods are answered with the allowed ones', async () => {
    for (const path of ['/usage?format=csv', '/teams/01JD3Q7V6Y8Z0XKQ4T5N2M9HRC/periods']) {
      expectProblem(await call('GET', path, { token: null }), 'unauthorized');
      expectProblem(await call('POST', path), 'method_not_allowed');
    }
    expectProblem(await call('GET', '/teams/01JD3Q7V6Y8Z0XKQ4T5N2M9HRC/periods'), 'not_found');
  });
});
