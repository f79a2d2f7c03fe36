// Part of the store contract: deletion of teams. A store that cannot delete teams passes.
import { answered } from '../../domain/store-unavailable.ts';
import { expect } from '../expect.ts';
import { START_MS } from '../movable-clock.ts';
import type { PluginStore } from '../../ports/plugin.ts';
import { created, DE, dictionary, glossaryOf } from './dictionaries-under-test.ts';
import { play } from './steps.ts';
import { freshKey, GENEROUS_QUOTA, idAt, newId, NOTHING_HELD, PREPAID, teamUnderTest } from './team-under-test.ts';
import type { AddStoreCase, Subject } from './team-under-test.ts';

const WHOLLY = { keepUsage: false };
/** More than any store removes in one step. */
const MANY = 1300;
const DAY_MS = 86_400_000;

export function erasureContract(it: AddStoreCase, subject: Subject): void {
  const remove = async (store: PluginStore, teamId: string, keepUsage = false) =>
    answered(await store.teams.deleteTeam(teamId, { keepUsage }));

  it('a deleted team exists for no operation, at once and on every instance, and can be deleted once', async ({ store, again }) => {
    const team = await teamUnderTest(store, PREPAID, 1_000_000);
    const key = await team.newKey();
    const glossary = await created(store, team.teamId, dictionary(DE));
    await team.use(5);
    await team.admit({}, again);
    for (const one of [store, again]) expect(await one.keys.find(key.digest)).toMatchObject({ teamId: team.teamId });
    expect(await remove(store, team.teamId)).toBe(true);
    for (const one of [store, again]) {
      expect(await team.admit({}, one)).toEqual({ kind: 'key_unknown' });
      expect(await one.ledger.check({ requestId: newId(), teamId: team.teamId, keyId: team.keyId })).toEqual({ kind: 'key_unknown' });
      expect(await one.keys.find(key.digest)).toBeUndefined();
      expect(await one.teams.findTeam(team.teamId)).toBeUndefined();
      expect(await one.teams.usage(team.teamId)).toBeUndefined();
      expect(await one.teams.standing(team.teamId)).toBeUndefined();
      expect(await one.teams.listKeys(team.teamId)).toBeUndefined();
      expect(await one.teams.revokeKey(key.keyId)).toBeUndefined();
      expect(await one.teams.updateKey(key.keyId, { disabled: false, limits: { characters: 5 } })).toBeUndefined();
      expect(await one.teams.createKey(freshKey(team.teamId))).toBeUndefined();
      expect(await one.teams.updateTeam(team.teamId, { name: 'Back' })).toBeUndefined();
      expect(await one.teams.findKeys({ digest: key.digest })).toEqual([]);
      expect(await one.teams.findKeys({ display: key.display })).toEqual([]);
      expect(await one.teams.pageTeams({ after: undefined, limit: 5, search: team.teamId })).toEqual([]);
      expect(await one.teams.pageSummaries({ after: undefined, limit: 5, search: team.teamId })).toEqual([]);
      expect(answered(await one.teams.listTeams()).some(({ teamId }) => teamId === team.teamId)).toBe(false);
      expect(await one.glossaries.list(team.teamId)).toEqual([]);
      expect(await one.glossaries.find(team.teamId, glossary.glossaryId)).toBeUndefined();
      expect(await one.glossaries.entries(team.teamId, glossary.dictionaries[0]!.dictionaryId)).toBeUndefined();
      expect(await one.glossaries.remove(team.teamId, glossary.glossaryId)).toBe(false);
      expect(await remove(one, team.teamId)).toBe(false);
    }
    const afterwards = glossaryOf(team.teamId, dictionary(DE));
    expect(await store.glossaries.create(afterwards)).toEqual({ kind: 'team_unknown' });
  });

  it('reservations open at the deletion are charged to nobody, however often settled, and nothing reappears', async ({ store, again }) => {
    const team = await teamUnderTest(store);
    await play(subject, team, 'hold a 10; hold b 20; hold c 30');
    expect(await remove(again, team.teamId)).toBe(true);
    await play(subject, team, 'commit a: absent; release b: absent');
    expect(await team.commit(team.reserved.get('a')!, again)).toEqual({ kind: 'absent' });
    await play(subject, team, 'wait 120000; commit c: absent');
    expect(await store.teams.findTeam(team.teamId)).toBeUndefined();
    expect(await remove(store, team.teamId)).toBe(false);
  });

  it('what is settled while its team is deleted is settled or absent, and nothing fails', async ({ store, again }) => {
    const team = await teamUnderTest(store);
    const open = await Promise.all(Array.from({ length: 100 }, () => team.reserve(1)));
    let isGone = false;
    const removed = remove(again, team.teamId).finally(() => (isGone = true));
    const failed: unknown[] = [];
    for (const { requestId } of open) {
      if (isGone) break;
      const resolution = await team.commit(requestId);
      if (resolution.kind !== 'committed' && resolution.kind !== 'absent') failed.push(resolution);
    }
    expect(await removed).toBe(true);
    expect(failed).toEqual([]);
    expect(await store.teams.findTeam(team.teamId)).toBeUndefined();
  });

  it('a team with many keys is deleted completely, and other teams keep theirs', async ({ store, again }) => {
    const [stays, goes, next] = [await teamUnderTest(store), await teamUnderTest(store), await teamUnderTest(store)];
    await stays.use(7);
    const keys = Array.from({ length: MANY }, () => freshKey(goes.teamId));
    for (let first = 0; first < MANY; first += 100) {
      await Promise.all(keys.slice(first, first + 100).map((key) => store.teams.createKey(key)));
    }
    expect(await remove(again, goes.teamId)).toBe(true);
    for (const i of [0, 650, MANY - 1]) expect(await store.keys.find(keys[i]!.digest)).toBeUndefined();
    expect(await stays.standing()).toMatchObject({ usedCharacters: 7 });
    expect(answered(await store.teams.listKeys(next.teamId))).toHaveLength(1);
  });

  it('a team created after a deletion inherits nothing from the deleted one', async ({ store, again }) => {
    for (const keepUsage of [false, true]) {
      const before = await teamUnderTest(store, PREPAID, 5_000_000);
      await created(store, before.teamId, dictionary(DE));
      await before.use(9);
      await before.reserve(4);
      expect(await remove(again, before.teamId, keepUsage)).toBe(true);
      const after = await teamUnderTest(store, PREPAID, 77);
      expect(await after.standing()).toEqual({ usedCharacters: 0, balanceMicro: 77, ...NOTHING_HELD });
      expect(await after.standing(again)).toMatchObject({ balanceMicro: 77, openReservations: 0 });
      expect((await after.usage()).keys).toHaveLength(1);
      expect(await after.usage()).toMatchObject({ characters: 0 });
      expect(await store.glossaries.list(after.teamId)).toEqual([]);
      expect(await again.teams.findTeam(before.teamId)).toBeUndefined();
    }
  });

  it('with `keepUsage`, days and closed periods stay, without names, until a deletion without it', async ({ store, again, clock }) => {
    const { history } = again;
    const team = await teamUnderTest(store, { period: 'P1D' });
    const day = Math.floor(clock.nowMs() / DAY_MS);
    await play(subject, team, `use 100; wait ${DAY_MS}; use 20; use 3; hold a 1000`);
    expect(await remove(store, team.teamId, true)).toBe(true);
    const range = { from: day, to: day + 9 };
    for (let i = 0; i < 2; i++) {
      const days = answered(await history.days(team.teamId, range))!;
      expect(days).toMatchObject({
        team: { teamId: team.teamId, name: '', plan: 'test' },
        keys: [{ keyId: team.keyId, display: '', label: '', status: 'revoked' }],
        days: [
          { day, keyId: team.keyId, characters: 100, requests: 1 },
          { day: day + 1, keyId: team.keyId, characters: 23, requests: 2 },
        ],
      });
      const periods = answered(await history.periods(team.teamId))!;
      expect(periods.map(({ closed, plan, characters }) => [closed, plan, characters])).toEqual([
        [true, 'test', 23],
        [true, 'test', 100],
      ]);
      expect(periods[0]!.endMs).toBe(START_MS + DAY_MS);
      const paged = answered(await history.pageDays({ after: undefined, limit: 9, search: team.teamId }, range));
      expect(paged).toEqual([days]);
      expect(await again.teams.findTeam(team.teamId)).toBeUndefined();
      expect(await team.admit({}, again)).toEqual({ kind: 'key_unknown' });
      expect(await remove(store, team.teamId, true)).toBe(false);
      clock.step(3 * DAY_MS);
    }
    expect(await remove(store, team.teamId)).toBe(true);
    expect(await history.days(team.teamId, range)).toBeUndefined();
    expect(await history.periods(team.teamId)).toBeUndefined();
    expect(await history.pageDays({ after: undefined, limit: 9, search: team.teamId }, range)).toEqual([]);
    expect(await remove(store, team.teamId)).toBe(false);
  });

  it('usage that is left of deleted teams is listed with that of the others, page by page', async ({ store, again, clock }) => {
    const { history } = again;
    const teams = [await teamUnderTest(store), await teamUnderTest(store), await teamUnderTest(store), await teamUnderTest(store)];
    for (const team of teams) await team.use(10);
    const ids = teams.map(({ teamId }) => teamId);
    await remove(store, ids[1]!, true);
    await remove(store, ids[3]!, true);
    const day = Math.floor(clock.nowMs() / DAY_MS);
    const found: string[] = [];
    for (let after: string | undefined; ;) {
      const page = answered(await history.pageDays({ after, limit: 3, search: undefined }, { from: day, to: day }));
      found.push(...page.filter(({ days }) => days.length === 1).map(({ team }) => team.teamId));
      if (page.length < 3) break;
      after = page.at(-1)!.team.teamId;
    }
    expect(found.filter((id) => ids.includes(id)).toSorted()).toEqual(ids.toSorted());
  });

  it('paging continues even if the last team of a page was deleted', async ({ store, again }) => {
    const mark = newId().slice(-8);
    const ids: string[] = [];
    for (let i = 0; i < 6; i++) {
      const team = { teamId: idAt(Date.now() + 50 * i), name: `Page ${mark} ${i}`, plan: 'test', limits: GENEROUS_QUOTA, balanceMicro: 0 };
      ids.push(answered(await store.teams.createTeam(team)).teamId);
    }
    const page = async (after: string | undefined, search: string | undefined, limit = 2) =>
      answered(await again.teams.pageTeams({ after, limit, search })).map(({ teamId }) => teamId);
    expect(await page(undefined, mark)).toEqual(ids.slice(0, 2));
    await remove(store, ids[1]!);
    expect(await page(ids[1], mark)).toEqual(ids.slice(2, 4));
    expect(await page(ids[1], undefined)).toEqual(ids.slice(2, 4));
    await remove(store, ids[3]!);
    expect(await page(ids[2], mark)).toEqual(ids.slice(4));
    expect(await page(ids[0], undefined, 3)).toEqual([ids[2], ids[4], ids[5]]);
    await remove(store, ids[5]!);
    expect(await page(ids[5], mark)).toEqual([]);
    const last = await teamUnderTest(store);
    expect(await page(ids[4], undefined)).toEqual([last.teamId]);
    expect(await page(undefined, mark, 9)).toEqual([ids[0], ids[2], ids[4]]);
  });

  it('after concurrent deletions the team is gone, and deleting an unknown team finds nothing', async ({ store, again }) => {
    const { teamId } = await teamUnderTest(store);
    const found = await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 === 0 ? store : again).teams.deleteTeam(teamId, WHOLLY)));
    expect(found.includes(true)).toBe(true);
    expect(await store.teams.findTeam(teamId)).toBeUndefined();
    expect(await remove(store, newId())).toBe(false);
  });
}
