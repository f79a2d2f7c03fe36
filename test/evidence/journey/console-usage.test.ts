// Usage in the console over real sockets: a team's days, months and periods, a month's teams page by page, and its file.
import { randomBytes } from 'node:crypto';
import { beforeAll, expect, test, vi } from 'vitest';
import { dateOf, dayOf } from '../../../src/index.ts';
import { daysOfMonth, monthOf } from '../../support/door/terms.ts';
import { ConsoleVisitor } from '../../support/console-visitor.ts';
import { onOneGateway, translateText } from '../../support/every-gateway.ts';
import type { TestTeam } from '../../support/gateway.ts';
import { QUOTA_PLAN } from '../../support/gateway.ts';
import { untilOneDay } from '../../support/one-day.ts';

const TOKEN = randomBytes(24).toString('hex');
await untilOneDay();
const MONTH = monthOf(dayOf(Date.now()));
/** More teams than fit on a page. */
const TEAMS = 53;

onOneGateway({ config: { admin: { token: TOKEN } } }, (setting) => {
  const operator = (): Promise<ConsoleVisitor> => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
  const read = async (path: string): Promise<string> => {
    const { status, body } = await (await operator()).get(path);
    expect([path, status]).toEqual([path, 200]);
    return body;
  };
  const translated = async ({ teamId, key }: TestTeam, text: string): Promise<void> => {
    expect((await translateText(setting, key, text)).status).toBe(200);
    const settled = async (): Promise<void> =>
      expect(await setting.gateway.store.teams.standing(teamId)).toMatchObject({ openReservations: 0 });
    await vi.waitFor(settled, { timeout: 60_000 });
  };
  const teams: TestTeam[] = [];

  beforeAll(async () => {
    for (let i = 0; i < TEAMS; i++) {
      const team = await setting.gateway.team(QUOTA_PLAN);
      await setting.gateway.store.teams.updateTeam(team.teamId, { name: `Team ${i} <b>` });
      await translated(team, 'x'.repeat(i + 1));
      teams.push(team);
    }
  });

  test('a team’s page shows its days, months and periods, in tables and in charts with text alternatives', async () => {
    const page = await read(`/console/teams/${teams[4]!.teamId}`);
    expect(page).toContain('aria-label="Last 30 days: 5 characters in total; the most, 5, in ');
    expect(page).toContain('aria-label="Last 13 months: 5 characters in total; the most, 5, in ');
    expect([...page.matchAll(/<rect\s/g)]).toHaveLength(30 + 13);
    expect(page).toContain(`<title>${MONTH}: 5 characters, 1 request</title>`);
    const rows = [...page.matchAll(/<th role="rowheader" scope="row">(\d{4}-\d\d(?:-\d\d)?)<\/th>/g)].map(([, date]) => date);
    expect(rows).toHaveLength(30 + 13);
    expect(rows.slice(30)[0]).toBe(MONTH);
    expect(page).toMatch(/<td role="cell" data-label="State"\s*>open<\/td>/);
    expect(page).toContain('role="region" tabindex="0" aria-label="Last 30 days as a table"');
    expect(page).not.toMatch(/ style=|<b>/);
  });

  test('the invoices of a month: pages with totals, a page to print, and a file', async () => {
    const first = await read(`/console/invoices?month=${MONTH}&open=true`);
    expect(first).toContain('Totals by currency');
    expect(first).toMatch(/rel="next"/);
    expect(first).not.toMatch(/<b>/);
    const printed = await read(`/console/invoices/print?month=${MONTH}&open=true`);
    for (const { teamId } of teams) expect(printed).toContain(`/console/teams/${teamId}`);
    const file = await read(`/console/invoices/csv?month=${MONTH}&open=true`);
    expect(file.trim().split('\r\n').length).toBeGreaterThan(TEAMS);
    const empty = await read('/console/invoices?month=2020-01');
    expect(empty).toContain('No period was closed in 2020-01');
    expect(empty).toContain('<a href="/console/invoices?month=2019-12">Invoices of 2019-12</a>');
    expect(empty).toContain('<a href="/console/invoices?month=2020-01&amp;open=true">Periods that are still open</a>');
  });

  test('a form without a script chooses the month; an unused month says so, and an invalid one shows this month', async () => {
    const page = await read('/console/usage');
    expect(page).toMatch(new RegExp(`<option value="${MONTH}"\\s+selected>`));
    expect([...page.matchAll(/<option /g)]).toHaveLength(14);
    const heads = [...page.matchAll(/scope="col"[^>]*>([^<]+)</g)].map(([, head]) => head);
    expect(heads).toEqual(['Team', 'Reference', 'Characters', 'Requests', 'Plan']);
    const old = await read('/console/usage?month=2020-02');
    expect(old).toContain('There is no usage in 2020-02.');
    expect(old).toMatch(/<option value="2020-02"\s+selected>/);
    for (const wrong of ['month=2026-13', 'month=', 'month=x', `month=${MONTH}&cursor=nonsense`]) {
      expect(await read(`/console/usage?${wrong}`)).toContain('On this page 1,275 characters');
    }
  });

  test('the file is linked from the page, with a line for every team', async () => {
    const page = await read('/console/usage');
    const paths = [...page.matchAll(/<a href="(\/console\/usage\/csv[^"]+)" download>/g)].map(([, path]) => path!.replaceAll('&amp;', '&'));
    expect(paths.map((path) => new URLSearchParams(path).get('tags'))).toEqual([null, null, null, 'true']);
    const { from, to } = daysOfMonth(MONTH)!;
    for (const path of paths) {
      const answer = await (await operator()).get(path);
      expect([answer.status, answer.header('content-type'), answer.header('cache-control')]).toEqual([
        200,
        'text/csv; charset=utf-8',
        'no-store',
      ]);
      expect(answer.header('content-disposition')).toBe(`attachment; filename="usage-${dateOf(from)}-to-${dateOf(to)}.csv"`);
      expect(answer.header('x-frame-options')).toBe('DENY');
      const lines = answer.body.trimEnd().split('\r\n');
      expect(lines).toHaveLength(TEAMS + 1);
      expect(lines[1]!.split(',').slice(0, 3)).toEqual([teams[0]!.teamId, 'Team 0 <b>', 'test']);
    }
  });
});
