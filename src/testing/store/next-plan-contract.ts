// Part of the store contract: a plan that waits for the end of the period takes effect exactly then, once, whoever begins the next one.
import { answered } from '../../domain/store-unavailable.ts';
import type { Team, TeamRegistry } from '../../ports/team-registry.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const BIG = { name: 'big', limits: { ...GENEROUS_QUOTA, characterLimit: 30, period: 'PT60S' } };
const BY = { actor: 'cli:ops@host', action: 'updateTeam' } as const;

export function nextPlanContract(it: AddStoreCase, subject: Subject): void {
  const order = async (team: TeamUnderTest, nextPlan: typeof BIG | null) =>
    teamOf(await subject.store.teams.updateTeam(team.teamId, { nextPlan }, BY));
  const smallTeam = () => teamUnderTest(subject.store, { characterLimit: 10, period: 'PT60S' });

  it('until then the team has its plan, and shows the waiting one', async () => {
    const team = await smallTeam();
    const before = answered(await subject.store.teams.findTeam(team.teamId))!;
    expect(await order(team, BIG)).toMatchObject({ ...before, nextPlan: { name: 'big', limits: BIG.limits } });
    expect(answered(await subject.again.teams.findTeam(team.teamId))).toMatchObject({ plan: 'test', nextPlan: { name: 'big' } });
    await team.use(10);
    expect((await team.admit({ characters: 1 })).kind).toBe('quota_exceeded');
  });

  it('the first admission after the end of the period has the new plan, and so do all later ones', async () => {
    const team = await smallTeam();
    const createdMs = subject.clock.nowMs();
    await order(team, BIG);
    await team.use(7);
    subject.clock.set(createdMs + 60_000);
    await team.use(30);
    expect(await team.admit({ characters: 1 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 30 });
    const { team: after, ...usage } = await team.usage(subject.again);
    expect(after).toMatchObject({ plan: 'big', limits: BIG.limits });
    expect(after.nextPlan).toBeUndefined();
    expect(usage).toMatchObject({ periodStartMs: createdMs + 60_000, periodEndMs: createdMs + 120_000, characters: 30 });
    const periods = answered(await subject.store.history.periods(team.teamId))!;
    expect(periods.map(({ plan, characters }) => [plan, characters])).toEqual([
      ['big', 30],
      ['test', 7],
    ]);
  });

  for (const limits of [{ requestsPerSecond: 1 }, { windows: 'requests=1/hour' }]) {
    it(`a refusal holds no longer than the plan whose limit it is: ${Object.keys(limits).join()}`, async () => {
      const team = await teamUnderTest(subject.store, { period: 'PT60S', ...limits });
      await order(team, BIG);
      subject.clock.step(59_500);
      await team.touch();
      expect(await team.holdsForMs()).toBe(499);
      subject.clock.step(500);
      expect((await team.touch()).kind).toBe('admitted');
    });
  }

  it('several gateways at the moment of the change make one period with one plan', async () => {
    const team = await smallTeam();
    await order(team, BIG);
    await team.use(4);
    subject.clock.step(60_000);
    const uses = Array.from({ length: 20 }, (_, i) => team.admit({ characters: 2 }, i % 2 === 0 ? subject.store : subject.again));
    const kinds = (await Promise.all(uses)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(15);
    expect(await team.standing()).toMatchObject({ usedCharacters: 0, heldCharacters: 30 });
  });

  it('another length is counted from the end of the period, however late the next one begins', async () => {
    const team = await smallTeam();
    const createdMs = subject.clock.nowMs();
    await order(team, { ...BIG, limits: { ...BIG.limits, period: 'PT25S' } });
    subject.clock.set(createdMs + 60_000 + 60_000);
    const usage = await team.usage();
    expect(usage).toMatchObject({ periodStartMs: createdMs + 110_000, periodEndMs: createdMs + 135_000, team: { plan: 'big' } });
    subject.clock.set(usage.periodEndMs);
    expect(await team.usage(subject.again)).toMatchObject({ periodStartMs: createdMs + 135_000, periodEndMs: createdMs + 160_000 });
  });

  it('a later change replaces the waiting one, and null takes it back', async () => {
    const team = await smallTeam();
    await order(team, BIG);
    expect(await order(team, { ...BIG, name: 'later' })).toMatchObject({ nextPlan: { name: 'later' } });
    const taken = await order(team, null);
    expect(taken.nextPlan).toBeUndefined();
    subject.clock.step(60_000);
    expect((await team.usage()).team).toMatchObject({ plan: 'test' });
    expect(answered(await subject.store.teams.findTeam(team.teamId))?.nextPlan).toBeUndefined();
  });

  it('a change of plan at once leaves the waiting one, unless it takes it back in the same operation', async () => {
    const team = await smallTeam();
    await order(team, BIG);
    const { teams } = subject.store;
    const plan = { name: 'now', limits: { ...BIG.limits, characterLimit: 3 } };
    expect(answered(await teams.updateTeam(team.teamId, { plan }))).toMatchObject({ plan: 'now', nextPlan: { name: 'big' } });
    const back = teamOf(await teams.updateTeam(team.teamId, { plan, nextPlan: null }));
    expect(back.nextPlan).toBeUndefined();
  });

  it('once the period has ended, the waiting change comes before whatever is changed then', async () => {
    const team = await smallTeam();
    await order(team, BIG);
    subject.clock.step(60_000);
    const withdrawn = await order(team, null);
    expect(withdrawn).toMatchObject({ plan: 'big', limits: BIG.limits });
    expect(withdrawn.nextPlan).toBeUndefined();
  });

  it('from quota to credit and back, with the balance as it is', async () => {
    const team = await smallTeam();
    await order(team, { name: 'prepaid', limits: { ...PREPAID, period: 'PT60S' } });
    subject.clock.step(60_000);
    expect((await team.admit({ characters: 10 })).kind).toBe('credit_exhausted');
    answered(await subject.store.teams.updateTeam(team.teamId, { addMicro: 5_000_000, nextPlan: BIG }, BY));
    await team.use(10);
    subject.clock.step(60_000);
    await team.use(30);
    expect(await team.standing()).toMatchObject({ usedCharacters: 30, balanceMicro: 5_000_000 - 10 * PREPAID.minorPerMillion });
  });

  it('the order and its effect are audited, both by who ordered it', async () => {
    const { audit } = subject.store;
    const team = await smallTeam();
    await order(team, BIG);
    subject.clock.step(60_000);
    await team.usage();
    const entries = answered(await audit.page({ teamId: team.teamId, after: undefined, sinceMs: undefined, limit: 10 }));
    expect(
      entries.map(({ actor, action, before, after }) => [
        actor,
        action,
        before.plan,
        after.plan,
        before.nextPlan?.name,
        after.nextPlan?.name,
      ]),
    ).toEqual([
      [BY.actor, BY.action, 'test', 'big', 'big', undefined],
      [BY.actor, BY.action, undefined, undefined, undefined, 'big'],
    ]);
  });
}

function teamOf(changed: Awaited<ReturnType<TeamRegistry['updateTeam']>>): Team {
  if (changed === undefined || 'kind' in changed) throw new Error('the team was not changed');
  return changed;
}
