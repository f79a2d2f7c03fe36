// Part of the store contract: every reservation is settled exactly once, in whole or in part, whatever is repeated or is delayed; an id is
// known while its reservation is open.
import { DAY_MS, dayOf } from '../../domain/period.ts';
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import type { Verdict } from '../../ports/ledger.ts';
import { play } from './steps.ts';
import { LEASE_MS, newId, NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject, TeamUnderTest } from './team-under-test.ts';

const VERDICTS: readonly Verdict[] = ['commit', 'release'];
const PAIRS = VERDICTS.flatMap((first) => VERDICTS.map((second) => [first, second] as const));
const RICH = { ...PREPAID, balanceMicro: 1_000_000 };
const GLOSSARY = { glossaryId: newId(), sourceLang: 'EN', targetLang: 'DE' };

export function resolutionContract(it: AddStoreCase, subject: Subject): void {
  for (const [first, second] of PAIRS) {
    it.team(`a ${first} followed by a ${second}: the first one stands, and the second changes nothing`, RICH, async (team) => {
      const charged = first === 'commit' ? 10 : 0;
      const stands = `used ${charged}; held 20; open 1; balance ${1_000_000 - 2500 * charged}; credit held 50000`;
      await play(subject, team, `hold a 10; hold b 20; ${first} a; ${stands}; ${second} a: absent; ${second} a: absent; ${stands}`);
      expect((await team.usage()).keys[0]).toMatchObject({ characters: charged, requests: charged / 10 });
    });

    it.team(`an expired lease is absent to a ${first} and then a ${second}, and nothing is charged`, RICH, async (team) => {
      await play(subject, team, `hold a 10 for 500; wait 500; ${first} a: absent; ${second} a: absent`);
      expect(await team.standing()).toEqual({ usedCharacters: 0, balanceMicro: 1_000_000, ...NOTHING_HELD });
    });
  }

  it.team(
    'a commit one millisecond before the end of the lease is in time, and so is a release',
    'hold a 10 for 500; hold b 10 for 500; wait 499; commit a; release b',
  );

  it.team(
    'a lease expires automatically: the balances show it from that millisecond on, without a sweep',
    'hold a 10 for 500; hold b 20 for 501; wait 499; held 30; open 2; wait 1; held 20; open 1; wait 1; held 0; open 0',
  );

  it.team('a settlement that overtakes its admission is absent, and does not block it', async (team) => {
    for (const verdict of VERDICTS) {
      const requestId = newId();
      await play(subject, team, `${verdict} ${requestId}: absent`);
      expect(await team.admit({ requestId })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 10 } });
      await play(subject, team, `${verdict} ${requestId}`);
    }
    await play(subject, team, 'used 10; held 0; open 0');
  });

  it.team('no team can settle another team’s reservation', async (team) => {
    const other = await teamUnderTest(subject.store);
    await play(subject, team, 'hold a 10');
    await play(subject, other, `commit ${team.reserved.get('a')}: absent`);
    await play(subject, team, 'held 10; open 1; commit a');
  });

  it.team('a reservation outlives the revocation of its key, and is charged to it', async (team) => {
    const { requestId } = await team.reserve(10);
    await team.revoke();
    expect(await team.commit(requestId)).toEqual({ kind: 'committed' });
    expect((await team.usage()).keys).toMatchObject([{ status: 'revoked', characters: 10, requests: 1 }]);
  });
}

/** Every way in which an id stops being open, or never is. */
const ENDS: readonly { end: string; come: (team: TeamUnderTest, requestId: string) => Promise<unknown> }[] = [
  { end: 'a commit', come: async (team, requestId) => team.commit((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release', come: async (team, requestId) => team.release((await team.reserve(10, { requestId })).requestId) },
  { end: 'a release of an unknown id', come: (team, requestId) => team.release(requestId) },
  { end: 'an admission without a reservation', come: (team, requestId) => team.admit({ requestId, reserve: false }) },
  { end: 'a key_unknown', come: (team, requestId) => team.admit({ requestId, keyId: newId() }) },
  { end: 'a text_too_long', come: (team, requestId) => team.admit({ requestId, characters: 51 }) },
  { end: 'a glossary_missing', come: (team, requestId) => team.admit({ requestId, glossary: GLOSSARY }) },
  {
    end: 'a rate_limited by a window',
    async come(team, requestId) {
      await team.setOwn('characters=40/period requests=1/hour');
      await team.touch();
      expect((await team.admit({ requestId })).kind).toBe('rate_limited');
      await team.setOwn('characters=40/period');
    },
  },
  { end: 'a quota_exceeded', come: (team, requestId) => team.admit({ requestId, characters: 41 }) },
];

export function openIdsContract(it: AddStoreCase, subject: Subject): void {
  const newTeam = () => teamUnderTest(subject.store, { maxCharactersPerRequest: 50, characterLimit: 40 });

  it('repeating an open admission returns the same reservation, unchanged and not extended', async () => {
    const team = await newTeam();
    const reservation = await team.reserve(10);
    subject.clock.step(LEASE_MS - 1);
    const duplicate = await team.admit({ requestId: reservation.requestId, characters: 20, leaseMs: 2 * LEASE_MS });
    expect(duplicate).toEqual({ kind: 'admitted', reservation });
    await play(subject, team, 'held 10; open 1; wait 1; held 0; open 0');
  });

  it('an id whose lease has expired is new, even if nobody asked about it', async () => {
    const team = await newTeam();
    const { requestId } = await team.reserve(10, { leaseMs: 500 });
    subject.clock.step(500);
    expect(await team.reserve(20, { requestId })).toMatchObject({ requestId, characters: 20 });
    await play(subject, team, `held 20; open 1; commit ${requestId}; used 20`);
  });

  it.each(ENDS)('$end leaves an id that is new', async ({ come }) => {
    const team = await newTeam();
    const requestId = newId();
    await come(team, requestId);
    const { characters: before } = await team.usage();
    await play(subject, team, `release ${requestId}: absent; commit ${requestId}: absent; held 0; open 0`);
    expect(await team.admit({ requestId, characters: 1 })).toMatchObject({ kind: 'admitted', reservation: { requestId, characters: 1 } });
    await play(subject, team, `commit ${requestId}; commit ${requestId}: absent; used ${before + 1}`);
  });
}

/** A commit that charges less than was reserved. */
export function partContract(it: AddStoreCase, subject: Subject): void {
  it.team('the part and one request are charged to team and key, and the rest is freed', async (team) => {
    await play(subject, team, 'hold open 5; hold a 10; commit a 3');
    expect(await team.standing()).toEqual({ usedCharacters: 3, balanceMicro: 0, ...NOTHING_HELD, heldCharacters: 5, openReservations: 1 });
    expect(await team.usage()).toMatchObject({ characters: 3, keys: [{ characters: 3, requests: 1 }] });
    await play(subject, team, 'commit open');
    expect(await team.usage()).toMatchObject({ characters: 8, keys: [{ characters: 8, requests: 2 }] });
  });

  it('a part of 0 costs nothing but counts its request', async () => {
    const [quota, credit] = [await teamUnderTest(subject.store), await teamUnderTest(subject.store, PREPAID, 25_000)];
    for (const team of [quota, credit]) {
      await play(subject, team, 'hold a 10; commit a 0; used 0; held 0; open 0; credit held 0');
      expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 1 }] });
    }
    await play(subject, credit, 'balance 25000; 10: admitted');
  });

  it.team(
    '0 of 0, all, and more than all charge what was reserved',
    RICH,
    `hold a 0; commit a 0; used 0; balance 1000000; hold b 10; commit b 10; used 10; balance 975000;
        hold c 10; commit c 11; used 20; balance 950000; held 0; open 0; credit held 0`,
  );

  it('the price of a part is exact, and the credit held by the rest can be spent', async () => {
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion: 333_333 }, 3_333_330);
    await play(subject, team, 'hold a 10; commit a 7; used 7; balance 999999; credit held 0; fits 3');
  });

  it('prices near the largest exact number stay exact', async () => {
    const balanceMicro = Number.MAX_SAFE_INTEGER - 1;
    const minorPerMillion = Math.floor(balanceMicro / 10_000);
    const team = await teamUnderTest(subject.store, { ...PREPAID, minorPerMillion }, balanceMicro);
    await play(subject, team, `hold a 9999; commit a 9998; balance ${balanceMicro - 9998 * minorPerMillion}; credit held 0`);
  });

  it.team('an id is charged once, whatever its repetitions name, on any instance', RICH, async (team) => {
    await play(subject, team, 'hold a 10; commit a 3');
    const [requestId, before] = [team.reserved.get('a')!, await team.standing()];
    for (const store of [subject.store, subject.again]) {
      for (const part of [3, 9, undefined]) expect(await team.commitPart(requestId, part, store)).toEqual({ kind: 'absent' });
      expect(await team.release(requestId, store)).toEqual({ kind: 'absent' });
    }
    expect(await team.standing()).toEqual(before);
    expect((await team.usage()).keys).toMatchObject([{ characters: 3, requests: 1 }]);
  });

  it.team('of concurrent parts, the first one stands', RICH, async (team) => {
    const [{ requestId }, other] = [await team.reserve(10), await team.reserve(20)];
    const all = [team.commitPart(requestId, 4), team.commit(other.requestId), team.commitPart(requestId, 9), team.commit(requestId)];
    const kinds = (await Promise.all(all)).map(({ kind }) => kind);
    expect(kinds).toEqual(['committed', 'committed', 'absent', 'absent']);
    expect(await team.standing()).toEqual({ usedCharacters: 24, balanceMicro: 940_000, ...NOTHING_HELD });
    expect((await team.usage()).keys).toMatchObject([{ characters: 24, requests: 2 }]);
  });

  it.team(
    'the part counts in the period it was reserved in, and on the day of its commit, where it counts a request even if it is 0',
    {
      period: 'P1D',
    },
    async (team) => {
      const { history } = subject.store;
      const from = dayOf(subject.clock.nowMs());
      await play(subject, team, `hold a 10; commit a 4; hold slow 1000 for ${2 * DAY_MS}; wait ${DAY_MS}; commit slow 30`);
      expect(await team.usage()).toMatchObject({ characters: 0, keys: [{ characters: 0, requests: 0 }] });
      expect(await team.standing()).toMatchObject({ usedCharacters: 0, ...NOTHING_HELD });
      await play(subject, team, `wait ${DAY_MS}; hold a 10; commit a 0; hold a 10; commit a 0; wait ${DAY_MS}; hold a 10; commit a 1`);
      const periods = answered(await history.periods(team.teamId))!;
      expect(periods.filter(({ characters }) => characters > 0).map(({ characters, closed }) => [characters, closed])).toEqual([
        [1, false],
        [34, true],
      ]);
      const { days } = answered(await history.days(team.teamId, { from, to: from + 3 }))!;
      expect(days.map(({ day, characters, requests }) => [day - from, characters, requests])).toEqual([
        [0, 4, 1],
        [1, 30, 1],
        [2, 0, 2],
        [3, 1, 1],
      ]);
    },
  );
}
