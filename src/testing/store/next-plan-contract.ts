// Part of the store contract: a plan that waits for the end of the period takes effect exactly then, once, whoever begins the next one.
import { answered } from '../../domain/store-unavailable.ts';
import type { Team, TeamChange } from '../../ports/team-registry.ts';
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import { GENEROUS_QUOTA, PREPAID } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest, Terms } from './team-under-test.ts';

const SMALL = { characterLimit: 10, period: 'PT60S' };
const BIG = { name: 'big', limits: { ...GENEROUS_QUOTA, characterLimit: 30, period: 'PT60S' } };
const BY = { actor: 'cli:ops@host', action: 'updateTeam' } as const;
const NONE = { nextPlan: 'none' };

/** Also shows that no plan waits. */
function shown(team: unknown): object {
  return { ...(team as object), nextPlan: (team as Team).nextPlan ?? 'none' };
}

export function nextPlanContract(it: AddStoreCase, subject: Subject): void {
  const change = async ({ teamId }: TeamUnderTest, asked: TeamChange) => shown(await subject.store.teams.updateTeam(teamId, asked, BY));
  /** Adds a case that begins with a new team for which another plan waits. */
  const waiting = (title: string, run: (team: TeamUnderTest) => Promise<void>, nextPlan = BIG, terms: Terms = SMALL): void =>
    it.team(title, terms, async (team) => {
      expect(await change(team, { nextPlan })).toMatchObject({ plan: 'test', nextPlan });
      await run(team);
    });

  waiting('until then the team has its plan, and shows the waiting one', async (team) => {
    expect(answered(await subject.again.teams.findTeam(team.teamId))).toMatchObject({
      plan: 'test',
      limits: { ...GENEROUS_QUOTA, ...SMALL },
      nextPlan: BIG,
    });
    await play(subject, team, 'use 10; full');
  });

  waiting('the first admission after the end of the period has the new plan, and so do all later ones', async (team) => {
    await play(subject, team, 'use 7; wait 60000; use 30; 1: quota_exceeded by characters=30/period');
    await play(subject, team, 'period 2040-01-15T12:01Z 2040-01-15T12:02Z; used 30');
    expect(shown((await team.usage(subject.again)).team)).toMatchObject({ plan: 'big', limits: BIG.limits, ...NONE });
    const periods = answered(await subject.store.history.periods(team.teamId))!;
    expect(periods.map(({ plan, characters }) => [plan, characters])).toEqual([
      ['big', 30],
      ['test', 7],
    ]);
  });

  for (const limits of [{ requestsPerSecond: 1 }, { windows: 'requests=1/hour' }]) {
    const holdsAsLong = async (team: TeamUnderTest): Promise<void> => {
      await play(subject, team, 'wait 59500; touch');
      expect(await team.holdsForMs()).toBe(499);
      await play(subject, team, 'wait 500; touch');
    };
    waiting(`a refusal holds no longer than the plan whose limit it is: ${Object.keys(limits).join()}`, holdsAsLong, BIG, {
      period: 'PT60S',
      ...limits,
    });
  }

  waiting('several gateways at the moment of the change make one period with one plan', async (team) => {
    await play(subject, team, 'use 4; wait 60000');
    const uses = Array.from({ length: 20 }, (_, i) => team.admit({ characters: 2 }, i % 2 === 0 ? subject.store : subject.again));
    const kinds = (await Promise.all(uses)).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'admitted')).toHaveLength(15);
    await play(subject, team, 'used 0; held 30');
  });

  waiting(
    'another length is counted from the end of the period, however long after it the next one begins',
    async (team) => {
      await play(subject, team, 'wait 120000; period 2040-01-15T12:01:50Z 2040-01-15T12:02:15Z');
      expect((await team.usage()).team.plan).toBe('big');
      await play(subject, team, 'at 2040-01-15T12:02:15Z; period 2040-01-15T12:02:15Z 2040-01-15T12:02:40Z');
    },
    { ...BIG, limits: { ...BIG.limits, period: 'PT25S' } },
  );

  waiting('a later change replaces the waiting one, and null takes it back', async (team) => {
    expect(await change(team, { nextPlan: { ...BIG, name: 'later' } })).toMatchObject({ nextPlan: { name: 'later' } });
    expect(await change(team, { nextPlan: null })).toMatchObject(NONE);
    subject.clock.step(60_000);
    expect((await team.usage()).team).toMatchObject({ plan: 'test' });
    expect(shown(await subject.store.teams.findTeam(team.teamId))).toMatchObject(NONE);
  });

  waiting('a change of plan at once leaves the waiting one, unless it takes it back in the same operation', async (team) => {
    const plan = { name: 'now', limits: { ...BIG.limits, characterLimit: 3 } };
    expect(await change(team, { plan })).toMatchObject({ plan: 'now', nextPlan: { name: 'big' } });
    expect(await change(team, { plan, nextPlan: null })).toMatchObject({ plan: 'now', ...NONE });
  });

  waiting('once the period has ended, the waiting change comes before whatever is changed then', async (team) => {
    subject.clock.step(60_000);
    expect(await change(team, { nextPlan: null })).toMatchObject({ plan: 'big', limits: BIG.limits, ...NONE });
  });

  waiting(
    'from quota to credit and back, with the balance as it is',
    async (team) => {
      await play(subject, team, 'wait 60000; 10: credit_exhausted');
      await change(team, { addMicro: 5_000_000, nextPlan: BIG });
      await play(subject, team, `use 10; wait 60000; use 30; balance ${5_000_000 - 10 * PREPAID.minorPerMillion}`);
    },
    { name: 'prepaid', limits: { ...PREPAID, period: 'PT60S' } },
  );

  waiting(
    'it brings its windows with it',
    (team) => play(subject, team, 'touch; touch; touch; wait 60000; touch: rate_limited by requests=3/day'),
    { ...BIG, limits: { ...BIG.limits, windows: 'requests=3/day' } },
    { ...SMALL, windows: 'requests=9/day' },
  );

  waiting('the order and its effect are audited, both by who ordered it', async (team) => {
    subject.clock.step(60_000);
    await team.usage();
    const entries = answered(await subject.store.audit.page({ teamId: team.teamId, after: undefined, sinceMs: undefined, limit: 10 }));
    const facts = entries.map(({ actor, action, before, after }) => [
      actor,
      action,
      before.plan,
      after.plan,
      before.nextPlan?.name,
      after.nextPlan?.name,
    ]);
    expect(facts).toEqual([
      [BY.actor, BY.action, 'test', 'big', 'big', undefined],
      [BY.actor, BY.action, undefined, undefined, undefined, 'big'],
    ]);
  });
}
