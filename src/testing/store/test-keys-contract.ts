// Part of the store contract: the characters that a plan lets test keys use for nothing in each period.
import type { TeamLimits } from '../../domain/plan.ts';
import { answered } from '../../domain/store-unavailable.ts';
import type { PeriodUse } from '../../ports/usage-history.ts';
import { expect } from '../expect.ts';
import { GENEROUS_QUOTA, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const TIGHT: Partial<TeamLimits> = { characterLimit: 20, testAllowance: 30 };
const SHORT = { period: 'PT2S', ...TIGHT };
const NOTHING = { allowanceUsed: 0, allowanceHeld: 0 };

export function testKeysContract(it: AddStoreCase, subject: Subject): void {
  const testKeyOf = async (team: TeamUnderTest): Promise<TeamUnderTest> => team.withKey((await team.newKey('tests', 'test')).keyId);
  /** Oldest first: the characters, those of test keys, and those for nothing. */
  const periods = async (team: TeamUnderTest): Promise<readonly (readonly number[])[]> =>
    answered(await subject.again.history.periods(team.teamId))!
      .toReversed()
      .map((one: PeriodUse) => [one.characters, one.testCharacters, one.allowanceUsed]);

  it.team('without an allowance, a test key costs what a live one costs', { characterLimit: 20 }, async (team) => {
    const tests = await testKeyOf(team);
    await tests.use(15);
    expect(await team.kinds({ characters: 6 }, { characters: 5 })).toEqual(['quota_exceeded', 'admitted']);
    expect(await team.standing()).toMatchObject({ usedCharacters: 15, ...NOTHING });
  });

  it.team('test keys use the allowance and not the quota, live keys the quota and not the allowance', TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    await tests.use(25);
    await team.use(20);
    expect(await team.admit({ characters: 1 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 20 });
    expect(await tests.admit({ characters: 6 })).toEqual({
      kind: 'quota_exceeded',
      characterLimit: 30,
      overageCapMinor: 0,
      periodEndMs: (await team.usage()).periodEndMs,
      of: 'test_keys',
    });
    await tests.use(5);
    expect(await team.standing()).toMatchObject({ usedCharacters: 50, heldCharacters: 0, allowanceUsed: 30, allowanceHeld: 0 });
    expect(await team.usage()).toMatchObject({ characters: 50, allowanceUsed: 30 });
  });

  it.team('what test keys used for nothing stays out of the quota, however often requests are refused for it', TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    await tests.use(30);
    await team.use(15);
    for (let i = 0; i < 3; i++) expect(await team.kinds({ characters: 6 })).toEqual(['quota_exceeded']);
    expect(await team.kinds({ characters: 6 }, { characters: 5 })).toEqual(['quota_exceeded', 'admitted']);
    expect(await team.standing()).toMatchObject({ usedCharacters: 45, heldCharacters: 5, allowanceUsed: 30 });
  });

  it.team('test keys use the allowance for the first time behind refusals for the quota', TIGHT, async (team) => {
    await team.use(18);
    for (let i = 0; i < 3; i++) expect(await team.kinds({ characters: 3 })).toEqual(['quota_exceeded']);
    const tests = await testKeyOf(team);
    await tests.use(30);
    expect(await team.kinds({ characters: 3 }, { characters: 2 })).toEqual(['quota_exceeded', 'admitted']);
  });

  it.team('all test keys share the allowance, and open reservations of it count', TIGHT, async (team) => {
    const [one, other] = [await testKeyOf(team), await testKeyOf(team)];
    const held = await one.reserve(20);
    expect(await other.kinds({ characters: 11 })).toEqual(['quota_exceeded']);
    expect(await team.standing()).toMatchObject({ heldCharacters: 20, allowanceUsed: 0, allowanceHeld: 20 });
    await one.release(held.requestId);
    await other.use(30);
    expect(await one.kinds({ characters: 1 })).toEqual(['quota_exceeded']);
    expect(await team.standing()).toMatchObject({ usedCharacters: 30, allowanceUsed: 30, allowanceHeld: 0 });
  });

  it.team('a part that is charged frees the rest of the allowance', TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    const held = await tests.reserve(30);
    await tests.commitPart(held.requestId, 7);
    expect(await team.standing()).toMatchObject({ usedCharacters: 7, heldCharacters: 0, allowanceUsed: 7, allowanceHeld: 0 });
    await tests.use(23);
  });

  it.team('a lease that ends gives its part of the allowance back', TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    await tests.reserve(30, { leaseMs: 1000 });
    expect(await tests.kinds({ characters: 1 })).toEqual(['quota_exceeded']);
    subject.clock.step(1000);
    expect(await team.standing()).toMatchObject({ heldCharacters: 0, ...NOTHING });
    await tests.use(30);
  });

  it('with credit billing, test keys use no credit, nor does their reservation hold any', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, testAllowance: 30 }, 25_000);
    const tests = await testKeyOf(team);
    const held = await tests.reserve(30);
    expect(await team.standing()).toMatchObject({ balanceMicro: 25_000, heldMicro: 0, allowanceHeld: 30 });
    await tests.commit(held.requestId);
    expect(await tests.kinds({ characters: 1 })).toEqual(['quota_exceeded']);
    await team.use(10);
    expect(await team.standing()).toMatchObject({ usedCharacters: 40, balanceMicro: 0, allowanceUsed: 30 });
  });

  it.team('each period has the whole allowance, and a late settlement stays in its own', SHORT, async (team) => {
    const tests = await testKeyOf(team);
    await tests.use(10);
    const [late, expiring] = [await tests.reserve(15), await tests.reserve(5, { leaseMs: 3000 })];
    subject.clock.step(2000);
    await tests.use(30);
    await tests.commit(late.requestId);
    expect(expiring.characters).toBe(5);
    subject.clock.step(1000);
    expect(await team.standing()).toMatchObject({ usedCharacters: 30, heldCharacters: 0, allowanceUsed: 30, allowanceHeld: 0 });
    await team.use(3);
    expect(await periods(team)).toEqual([
      [25, 25, 25],
      [33, 30, 30],
    ]);
    subject.clock.step(2000);
    await tests.use(1);
    expect((await periods(team)).slice(0, 2)).toEqual([
      [25, 25, 25],
      [33, 30, 30],
    ]);
  });

  it.team('a plan changed within the period: what was for nothing stays so, what was charged stays charged', async (team) => {
    await team.setLimits({ characterLimit: 20 });
    const tests = await testKeyOf(team);
    await tests.use(4);
    await team.setLimits({ testAllowance: 30 });
    await tests.use(20);
    const open = await tests.reserve(10);
    await team.setLimits({ testAllowance: 0 });
    expect(await team.kinds({ characters: 17 })).toEqual(['quota_exceeded']);
    await team.use(10);
    await tests.commit(open.requestId);
    await tests.use(6);
    expect(await team.kinds({ characters: 1 })).toEqual(['quota_exceeded']);
    expect(await team.standing()).toMatchObject({ usedCharacters: 50, heldCharacters: 0, allowanceUsed: 30, allowanceHeld: 0 });
    expect(await periods(team)).toEqual([[50, 40, 30]]);
    await team.setLimits({ testAllowance: 20 });
    expect(await tests.kinds({ characters: 1 })).toEqual(['quota_exceeded']);
  });

  it.team('another length of periods begins with the whole allowance', TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    await tests.use(30);
    const open = await tests.reserve(0);
    await team.setLimits({ period: 'P1D' });
    await tests.use(30);
    await tests.commit(open.requestId);
    expect(await periods(team)).toEqual([
      [30, 30, 30],
      [30, 30, 30],
    ]);
  });

  it.team("a test key's own limit is checked first, and counts what is for nothing", TIGHT, async (team) => {
    const tests = await testKeyOf(team);
    answered(await subject.store.teams.updateKey(tests.keyId, { limits: { characters: 10 } }));
    await tests.reserve(4);
    expect(await tests.admit({ characters: 7 })).toMatchObject({ kind: 'quota_exceeded', characterLimit: 10, of: 'key' });
    await tests.use(6);
    answered(await subject.store.teams.updateKey(tests.keyId, { limits: { characters: null } }));
    expect(await tests.admit({ characters: 21 })).toMatchObject({ characterLimit: 30, of: 'test_keys' });
  });

  it.team(
    'test characters are told apart whichever key used them, in every period',
    { ...GENEROUS_QUOTA, period: 'PT2S' },
    async (team) => {
      const tests = await testKeyOf(team);
      await tests.use(4);
      await team.use(3);
      const late = await tests.reserve(2);
      subject.clock.step(2000);
      await tests.use(1);
      await tests.commit(late.requestId);
      expect(await periods(team)).toEqual([
        [9, 6, 0],
        [1, 1, 0],
      ]);
    },
  );

  it.team('a deleted team whose usage was kept keeps both', TIGHT, async (team) => {
    const { teams } = subject.store;
    const tests = await testKeyOf(team);
    await tests.use(12);
    await team.use(3);
    await tests.reserve(5);
    answered(await teams.deleteTeam(team.teamId, { keepUsage: true }));
    expect(await periods(team)).toEqual([[15, 12, 12]]);
  });
}
