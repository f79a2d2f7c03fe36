// plan apply: what it prints, what it changes, and what it asks before.
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { answered as stored } from '../../../src/index.ts';
import { limitsOf } from '../../support/door/terms.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { adminClient } from '../../support/admin-client.ts';
import { onOneGateway, translateText } from '../../support/every-gateway.ts';
import { CREDIT_PLAN, QUOTA_PLAN } from '../../support/gateway.ts';
import { inProcess, parsed } from '../../support/lingate-command.ts';
import { writtenOnce } from '../../support/written-file.ts';

const TOKEN = randomBytes(24).toString('hex');
const FAST = { ...QUOTA_PLAN, requests_per_second: 5000 };
const DEAR = { ...QUOTA_PLAN, characters: 2, overage_minor_per_million: 2_000_000, overage_cap_minor: 100 };
const PLANS = { pro: FAST, prepaid: CREDIT_PLAN, dear: DEAR };

onOneGateway({ config: { admin: { token: TOKEN }, plans: PLANS } }, (setting) => {
  const { call } = adminClient(setting, TOKEN);
  const fileWith = writtenOnce();
  const fileOf = (plans: unknown): string => fileWith(JSON.stringify({ plans }));
  const run = (args: readonly string[], plans: unknown = PLANS) => inProcess([...args, '--config', fileOf(plans), '--store', setting.url]);
  const apply = (words: readonly string[], plans?: unknown) => run(['plan', 'apply', 'pro', '--json', ...words], plans);
  const teamOnPro = async (rate: number): Promise<string> => {
    const { team_id } = parsed(await run(['team', 'create', '--name', 'A', '--plan', 'pro', '--json'])) as { team_id: string };
    const { limits } = stored(await setting.gateway.store.teams.findTeam(team_id))!;
    await setting.gateway.store.teams.updateTeam(team_id, { plan: { name: 'pro', limits: { ...limits, requestsPerSecond: rate } } });
    return team_id;
  };
  const rateOf = async (team: string): Promise<number> =>
    stored(await setting.gateway.store.teams.findTeam(team))!.limits.requestsPerSecond;

  test('it prints what changes, from what to what and for how many teams; a dry run prints the same and changes nothing', async () => {
    const [one, two] = [await teamOnPro(7), await teamOnPro(8)];
    const shown = parsed(await apply(['--dry-run'])) as { teams: number };
    expect(shown).toEqual({
      plan: 'pro',
      teams: shown.teams,
      changed: 2,
      changes: [
        { number: 'requests_per_second', from: 7, to: 5000, teams: 1 },
        { number: 'requests_per_second', from: 8, to: 5000, teams: 1 },
      ],
      dearer: { teams: 0, refused: 0, minor: 0 },
    });
    expect(Object.keys(shown)).toEqual(['plan', 'teams', 'changed', 'changes', 'dearer']);
    expect([await rateOf(one), await rateOf(two)]).toEqual([7, 8]);
    expect(parsed(await apply([]))).toEqual(shown);
    expect([await rateOf(one), await rateOf(two)]).toEqual([5000, 5000]);
    expect(parsed(await apply([]))).toEqual({ ...shown, changed: 0, changes: [] });
  });

  test('what makes a running period costlier is said, and done only if that is confirmed', async () => {
    const { teamId, key } = await setting.gateway.team();
    const { store } = setting.gateway;
    const generous = { ...limitsOf(FAST), characterLimit: 3_000_000, overageCharacters: 0 };
    const give = (limits: TeamLimits, name = 'low') => store.teams.updateTeam(teamId, { plan: { name, limits } });
    const held = async (): Promise<TeamLimits> => stored(await store.teams.findTeam(teamId))!.limits;
    expect((await translateText(setting, key, '12345')).status).toBe(200);
    await expect.poll(() => setting.gateway.charged({ teamId })).toBe(5);
    // The gateway has no plan of this name.
    const plans = { ...PLANS, low: DEAR };
    const applyLow = (words: readonly string[]) => run(['plan', 'apply', 'low', '--json', ...words], plans);
    await give(generous);
    const dearer = { teams: 1, minor: 6 };
    expect(parsed(await applyLow(['--dry-run']))).toMatchObject({ changed: 1, dearer });
    const refused = await applyLow([]);
    expect([refused.status, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr).toContain(
      'lingate plan apply: nothing was changed: this makes the running period costlier for one team, by 0.06 EUR for what has been used so far; use --yes as well, or --when next-period',
    );
    const update = (words: readonly string[]) => run(['team', 'update', teamId, '--plan', 'low', '--json', ...words], plans);
    const updated = await update([]);
    expect([updated.status, updated.stdout]).toEqual([2, '']);
    expect(await held()).toEqual(generous);
    expect((await update(['--when', 'next-period'])).status).toBe(0);
    expect(parsed(await update(['--yes']))).toMatchObject({ team_id: teamId, dearer });
    expect((await held()).characterLimit).toBe(2);
    await give(generous);
    expect(parsed(await applyLow(['--yes']))).toMatchObject({ changed: 1, dearer });
    expect((await held()).characterLimit).toBe(2);
    // The gateway's own plan is costlier than what the team has now: its period costs more again.
    await give({ ...generous, minorPerMillion: 0, characterLimit: 2_000_000, overageCharacters: 10 });
    const asked = await call('PATCH', `/teams/${teamId}`, { body: { plan: 'dear' } });
    expect(JSON.parse(asked.body)).toMatchObject({ status: 400, code: 'validation_error', dearer });
    expect(await call('PATCH', `/teams/${teamId}`, { body: { plan: 'dear', confirm: true } })).toMatchObject({ status: 200 });
    await give(generous, 'dear');
    expect(JSON.parse((await call('POST', '/plans/dear/apply')).body)).toMatchObject({ code: 'validation_error', dearer });
    expect(await held()).toEqual(generous);
    expect(JSON.parse((await call('POST', '/plans/dear/apply', { body: { confirm: true } })).body)).toMatchObject({ changed: 1, dearer });
    expect(JSON.parse((await call('POST', '/plans/dear/apply')).body)).toMatchObject({ changed: 0, dearer: { teams: 0, minor: 0 } });
  });

  test('so is a limit by the day that is below what is used, and a quota that becomes credit', async () => {
    const { teamId, key } = await setting.gateway.team();
    const { store } = setting.gateway;
    const daily = { ...FAST, limits: [{ per: 'day', characters: 100 }] } as const;
    const give = (limits: TeamLimits) => store.teams.updateTeam(teamId, { plan: { name: 'daily', limits } });
    await give(limitsOf(daily));
    expect((await translateText(setting, key, '12345')).status).toBe(200);
    await expect.poll(() => setting.gateway.charged({ teamId })).toBe(5);
    const dryRun = async (plan: unknown): Promise<unknown> =>
      parsed(await run(['plan', 'apply', 'daily', '--json', '--dry-run'], { ...PLANS, daily: plan }));
    const limited = (characters: number) => ({ ...daily, limits: [{ per: 'day', characters }] });
    expect(await dryRun(limited(5))).toMatchObject({ changed: 1, dearer: { teams: 0, minor: 0 } });
    expect(await dryRun(limited(4))).toMatchObject({ changed: 1, dearer: { teams: 1, minor: 0 } });
    expect(await dryRun(CREDIT_PLAN)).toMatchObject({ changed: 1, dearer: { teams: 1, minor: 0 } });
  });
});
