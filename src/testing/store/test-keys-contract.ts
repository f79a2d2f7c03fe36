// Part of the store contract: the characters that a plan lets test keys use for nothing in each period. That they are a limit like others is
// in `limits-contract.ts`.
import type { TeamLimits } from '../../domain/plan.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { play } from './steps.ts';
import type { AddStoreCase, Subject, TeamUnderTest, Terms } from './team-under-test.ts';
import { PREPAID } from './team-under-test.ts';

const TIGHT: Partial<TeamLimits> = { characterLimit: 20, testAllowance: 30 };

export function testKeysContract(it: AddStoreCase, subject: Subject): void {
  const testKeyOf = async (team: TeamUnderTest): Promise<TeamUnderTest> => team.withKey((await team.newKey('tests', 'test')).keyId);
  /** Oldest first, of each period: the characters, those of test keys, and those for nothing. */
  const expectPeriods = async (team: TeamUnderTest, ...expected: readonly (readonly number[])[]): Promise<void> => {
    const periods = answered(await subject.again.history.periods(team.teamId))!.toReversed();
    expect(periods.map((one) => [one.characters, one.testCharacters, one.allowanceUsed])).toEqual(expected);
  };
  const live = (team: TeamUnderTest, steps: string) => play(subject, team, steps);
  const test = (tests: TeamUnderTest, steps: string, of: string | undefined = 'test_keys') =>
    play(subject, tests, steps, { kind: 'quota_exceeded', of });
  /** Adds a case that begins with a new team and a test key of it. */
  const withTests = (title: string, terms: Terms, run: (team: TeamUnderTest, tests: TeamUnderTest) => Promise<void>): void =>
    it.team(title, terms, async (team) => run(team, await testKeyOf(team)));

  withTests('without an allowance, a test key costs what a live one costs', { characterLimit: 20 }, async (team, tests) => {
    await tests.use(15);
    await live(team, 'fits 5; used 15');
    expect(await team.standing()).toMatchObject({ allowanceUsed: 0, allowanceHeld: 0 });
  });

  withTests('test keys use the allowance and not the quota, live keys the quota and not the allowance', TIGHT, async (team, tests) => {
    await test(tests, 'use 25');
    await live(team, 'use 20; 1: quota_exceeded by characters=20/period');
    const { periodEndMs } = await team.usage();
    const refused = { kind: 'quota_exceeded', characterLimit: 30, overageCapMinor: 0, periodEndMs, of: 'test_keys' };
    expect(await tests.admit({ characters: 6 })).toEqual(refused);
    await test(tests, 'use 5; used 50; held 0');
    expect(await team.standing()).toMatchObject({ allowanceUsed: 30, allowanceHeld: 0 });
    expect(await team.usage()).toMatchObject({ characters: 50, allowanceUsed: 30 });
  });

  withTests('what test keys used for nothing stays out of the quota, before and after refusals for it', TIGHT, async (team, tests) => {
    await live(team, 'use 13; 8: quota_exceeded; 8: quota_exceeded');
    await test(tests, 'use 30');
    await live(team, '8: quota_exceeded; 8: quota_exceeded; fits 7; used 43; held 7');
  });

  withTests('all test keys share the allowance, and what is open of it is shown', TIGHT, async (team, one) => {
    const other = await testKeyOf(team);
    await test(one, 'hold a 20; held 20');
    await test(other, 'fits 10');
    expect(await team.standing()).toMatchObject({ allowanceUsed: 0, allowanceHeld: 30 });
    await test(one, 'commit a 7');
    expect(await team.standing()).toMatchObject({ usedCharacters: 7, heldCharacters: 10, allowanceUsed: 7, allowanceHeld: 10 });
  });

  withTests('what the end of a lease gives back counts for neither', TIGHT, async (team, tests) => {
    await test(tests, 'hold lost 10 for 500; wait 500; held 0');
    await live(team, 'fits 20');
    await test(tests, 'fits 30');
  });

  withTests(
    'with credit billing, test keys use no credit, nor does their reservation hold any',
    { ...PREPAID, testAllowance: 30, balanceMicro: 25_000 },
    async (team, tests) => {
      await test(tests, 'hold a 30; balance 25000; credit held 0; commit a; full');
      await live(team, 'use 10; used 40; balance 0');
    },
  );

  withTests(
    'each period has the whole allowance, and a delayed settlement stays in its own',
    { period: 'PT2S', ...TIGHT },
    async (team, tests) => {
      await test(tests, 'use 10; hold slow 15; hold expiring 5 for 3000; wait 2000; use 30; commit slow; wait 1000; used 30; held 0');
      expect(await team.standing()).toMatchObject({ allowanceUsed: 30, allowanceHeld: 0 });
      await team.use(3);
      await expectPeriods(team, [25, 25, 25], [33, 30, 30]);
      await test(tests, 'wait 2000; use 1');
      await expectPeriods(team, [25, 25, 25], [33, 30, 30], [1, 1, 1]);
    },
  );

  withTests(
    'a plan changed within the period: what was for nothing stays so, what was charged stays charged',
    { characterLimit: 20 },
    async (team, tests) => {
      await tests.use(4);
      await team.setLimits({ testAllowance: 30 });
      await test(tests, 'use 20; hold open 10');
      await team.setLimits({ testAllowance: 0 });
      await live(team, '17: quota_exceeded; use 10');
      await test(tests, 'commit open; use 6', undefined);
      await live(team, 'full; used 50; held 0');
      expect(await team.standing()).toMatchObject({ allowanceUsed: 30, allowanceHeld: 0 });
      await expectPeriods(team, [50, 40, 30]);
      await team.setLimits({ testAllowance: 20 });
      await test(tests, 'full');
    },
  );

  withTests('another length of periods begins with the whole allowance', TIGHT, async (team, tests) => {
    await test(tests, 'use 30; hold open 0');
    await team.setLimits({ period: 'P1D' });
    await test(tests, 'use 30; commit open');
    await expectPeriods(team, [30, 30, 30], [30, 30, 30]);
  });

  withTests("a test key's own limit is checked first, and counts what is for nothing", TIGHT, async (_team, tests) => {
    const limit = async (characters: number | null): Promise<void> =>
      void answered(await subject.store.teams.updateKey(tests.keyId, { limits: { characters } }));
    await limit(10);
    await test(tests, 'hold a 4; 7: quota_exceeded by characters=10/period; use 6', 'key');
    await limit(null);
    await test(tests, '21: quota_exceeded by characters=30/period');
  });

  withTests('test characters are distinguished whichever key used them, in every period', { period: 'PT2S' }, async (team, tests) => {
    await live(team, 'use 3');
    await test(tests, 'use 4; hold slow 2; wait 2000; use 1; commit slow');
    await expectPeriods(team, [9, 6, 0], [1, 1, 0]);
  });

  withTests('a deleted team whose usage stays keeps both', TIGHT, async (team, tests) => {
    await test(tests, 'use 12; hold open 5');
    await team.use(3);
    answered(await subject.store.teams.deleteTeam(team.teamId, { keepUsage: true }));
    await expectPeriods(team, [15, 12, 12]);
  });
}
