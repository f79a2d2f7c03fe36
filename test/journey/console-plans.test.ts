// The console's plans over both stores: their numbers, which teams have others, and a confirmation before a plan is applied.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { limitsOf } from '../support/door/terms.ts';
import { answered } from '../../src/index.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../support/gateway.ts';
import { adminClient } from '../support/admin-client.ts';
import { ConsoleVisitor, hiddenFields } from '../support/console-visitor.ts';
import { onOneGateway, translateText } from '../support/every-gateway.ts';

const TOKEN = randomBytes(24).toString('hex');
const OVERAGE = { overage_cap_minor: 10_000, overage_minor_per_million: 2000 };
const PLANS = {
  test: QUOTA_PLAN,
  big: { ...QUOTA_PLAN, ...OVERAGE, requests_per_second: 1234 },
  prepaid: CREDIT_PLAN,
  dear: { ...QUOTA_PLAN, characters: 2, overage_minor_per_million: 2_000_000, overage_cap_minor: 100 },
};

onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const operator = () => ConsoleVisitor.signedIn(setting.gateway.opsPort, TOKEN);
  const read = async (visitor: ConsoleVisitor, path: string): Promise<string> => {
    const { status, body } = await visitor.get(path);
    expect(status).toBe(200);
    const main = body.slice(body.indexOf('<main'), body.indexOf('</main>'));
    return main.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
  };
  /** A team on a plan, with fewer requests a second than the plan allows. */
  const teamBehind = async (plan: keyof typeof PLANS): Promise<string> => {
    const { teamId } = await setting.gateway.team();
    const limits = { ...limitsOf(PLANS[plan]), requestsPerSecond: 7, maxGlossaries: 1 };
    await setting.gateway.store.teams.updateTeam(teamId, { plan: { name: plan, limits } });
    return teamId;
  };

  test('every plan is listed with its numbers, in readable money and periods', async () => {
    const page = await read(await operator(), '/console/plans');
    expect(page).toContain('test 1,000,000 a month none 1,000 1,000 characters 2');
    expect(page).toContain('big 1,000,000 a month 20.00 EUR per million, up to 100.00 EUR 1,234');
    expect(page).toContain('prepaid 25.00 EUR per million, prepaid – ');
  });

  test('a plan that teams have and the configuration lacks is named, with what to do', async () => {
    const { teamId } = await setting.gateway.team();
    answered(await setting.gateway.store.teams.updateTeam(teamId, { plan: { name: 'gone', limits: limitsOf(QUOTA_PLAN) } }));
    const page = await read(await operator(), '/console/plans');
    expect(page).toContain('1 team has the plan &quot;gone&quot;, which the configuration lacks');
    expect(page).toContain('lingate team update TEAM --plan PLAN');
  });

  test('applying a plan first shows the teams that differ and how; then they are changed, once, with one audit line', async () => {
    const visitor = await operator();
    const teamId = await teamBehind('big');
    const asked = await visitor.get('/console/plans/big/apply');
    expect(asked.body).toContain(`/console/teams/${teamId}`);
    const question = await read(visitor, '/console/plans/big/apply');
    expect(question).toContain('Teams on this plan: 1. With other numbers than the configuration: 1.');
    expect(question).toMatch(/requests per second 7 1,234 .* glossaries 1 2/);
    expect(answered(await setting.gateway.store.teams.findTeam(teamId))!.limits.requestsPerSecond).toBe(7);
    const answer = await visitor.submit('/console/plans/big/apply', '/console/plans/big/apply');
    expect(answer.status).toBe(303);
    const after = await read(visitor, answer.header('location')!);
    expect(after).toContain('Plan big: one team changed, of 1 on it.');
    expect(after).toMatch(/applied \d+ s ago : 1 of 1 changed/);
    expect(answered(await setting.gateway.store.teams.findTeam(teamId))!.limits).toEqual(limitsOf(PLANS.big));
    const audits = adminClient(setting, TOKEN)
      .audits()
      .filter(({ action }) => action === 'applyPlan');
    expect(audits).toMatchObject([{ msg: 'audit', plan: 'big', teams: 1, changed: 1 }]);
    expect(await read(visitor, '/console/plans/big/apply')).toContain('With other numbers than the configuration: none.');
  });

  test('what becomes costlier is said before it is confirmed: when a plan is applied, and when a team gets another plan', async () => {
    const visitor = await operator();
    const { teamId, key } = await setting.gateway.team();
    const { teams } = setting.gateway.store;
    expect((await translateText(setting, key, '12345')).status).toBe(200);
    await expect.poll(() => teams.standing(teamId)).toMatchObject({ usedCharacters: 5, openReservations: 0 });
    await teams.updateTeam(teamId, { plan: { name: 'dear', limits: limitsOf(QUOTA_PLAN) } });
    const says = 'This makes the running period costlier for one team, by 0.06 EUR for what has been used so far.';
    expect(await read(visitor, '/console/plans/dear/apply')).toContain(says);
    const page = `/console/teams/${teamId}`;
    const sent = await visitor.submit(page, `${page}/plan`, { plan: 'dear', when: 'now' });
    expect([sent.status, sent.body.includes(says)]).toEqual([200, true]);
    expect(answered(await teams.findTeam(teamId))!.limits).toEqual(limitsOf(QUOTA_PLAN));
    // Only who was asked has agreed, and only to what was said.
    for (const field of ['confirm', 'agreed']) {
      const unasked = await visitor.submit(page, `${page}/plan`, { plan: 'dear', when: 'now', [field]: 'true' });
      expect([unasked.status, unasked.body.includes(says)]).toEqual([200, true]);
    }
    const question = hiddenFields(sent.body, `${page}/plan`);
    const confirmed = await visitor.post(`${page}/plan`, question);
    expect(confirmed.status).toBe(303);
    expect(answered(await teams.findTeam(teamId))!.limits).toEqual(limitsOf(PLANS.dear));
  });

  test('only what the page showed is applied: if it has changed since, nothing is, and it is shown again', async () => {
    const visitor = await operator();
    const shownFirst = await teamBehind('big');
    const page = '/console/plans/big/apply';
    const fields = hiddenFields((await visitor.get(page)).body, page);
    const other = await teamBehind('big');
    const unseen = await visitor.post(page, fields);
    expect([unseen.status, unseen.body.includes('Nothing was applied')]).toEqual([200, true]);
    expect(unseen.body).toContain(`/console/teams/${other}`);
    const without = await visitor.post(page, { ...hiddenFields(unseen.body, page), agreed: '' });
    expect(without.body).toContain('Nothing was applied');
    const rates = async () =>
      Promise.all(
        [shownFirst, other].map(async (id) => answered(await setting.gateway.store.teams.findTeam(id))!.limits.requestsPerSecond),
      );
    expect(await rates()).toEqual([7, 7]);
    expect((await visitor.post(page, hiddenFields(without.body, page))).status).toBe(303);
    expect(await rates()).toEqual([1234, 1234]);
  });

  test('a plan without teams has nothing to apply, and an unknown one is not found', async () => {
    const visitor = await operator();
    const page = await visitor.get('/console/plans/prepaid/apply');
    expect(page.body).toContain('No team is on this plan.');
    expect(page.body).not.toContain('action="/console/plans/prepaid/apply"');
    expect((await visitor.get('/console/plans/none/apply')).status).toBe(404);
  });
});
