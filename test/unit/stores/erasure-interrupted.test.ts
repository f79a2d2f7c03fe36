// A deletion that is interrupted anywhere: repeating it completes it, nothing of the team is left, and the check finds nothing at any point.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { freshKey, GENEROUS_QUOTA, PREPAID, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { created, DE, dictionary } from '../../../src/testing/store/dictionaries-under-test.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { SILENT } from '../../support/silent-log.ts';
import { openStore } from '../../support/door/stores.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { locationsOf } from '../../support/store-search.ts';

/** Turns of the event loop after which the deleting process is gone. */
const TURNS = [0, 2, 5, 13, 34];
const KEYS = 20;

describe.each(['sqlite', 'redis'].flatMap((kind) => [false, true].map((keepUsage) => [kind as 'sqlite' | 'redis', keepUsage] as const)))(
  'on %s, usage kept: %s',
  (kind, keepUsage) => {
    let place: StorePlace;

    beforeAll(async () => {
      place = await storePlace(kind);
    });

    afterAll(() => place.remove());

    test.each(TURNS)('after %i turns', async (turns) => {
      const [store, leaving] = [promisedStore(await openBeside(place.url)), await openBeside(place.url)];
      const team = await teamUnderTest(store);
      const keys = Array.from({ length: KEYS }, (_, i) => ({ ...freshKey(team.teamId), limits: i % 2 === 0 ? {} : { characters: 9 } }));
      for (const key of keys) answered(await store.teams.createKey(key));
      await created(store, team.teamId, dictionary(DE));
      await team.commit((await team.reserve(5)).requestId);
      const deleting = leaving.teams.deleteTeam(team.teamId, { keepUsage });
      for (let i = 0; i < turns; i++) await nextTurn();
      await leaving.close();
      await deleting;
      expect((await checkedStore(place.url)).findings).toEqual([]);
      const found = answered(await store.teams.deleteTeam(team.teamId, { keepUsage }));
      expect(typeof found).toBe('boolean');
      expect((await checkedStore(place.url)).findings).toEqual([]);
      expect(await team.admit()).toEqual({ kind: 'key_unknown' });
      const names = keepUsage ? keys.map(({ digest }) => digest) : [team.teamId, ...keys.flatMap(({ keyId, digest }) => [keyId, digest])];
      expect(await locationsOf(place.url, names)).toEqual([]);
      const again = { teamId: team.teamId, name: 'Again', plan: 'p', limits: GENEROUS_QUOTA, balanceMicro: 0 };
      if (keepUsage) await expect(store.teams.createTeam(again)).rejects.toThrow('was deleted; use another id');
      await store.close();
    });

    test('a team that is never quiet is deleted at once, with the balance that it had at last', async () => {
      const [store, other] = [promisedStore(await openBeside(place.url)), promisedStore(await openBeside(place.url))];
      const team = await teamUnderTest(store, PREPAID, 1_000_000_000);
      let charged = 0;
      const calls = async (): Promise<void> => {
        for (;;) {
          const admission = await team.admit({ characters: 1 }, other);
          if (admission.kind !== 'admitted') return;
          const settled = await team.commit(admission.reservation!.requestId, other);
          if (settled.kind === 'committed') charged++;
        }
      };
      const callers = Array.from({ length: 8 }, calls);
      await expect.poll(() => charged).toBeGreaterThan(20);
      expect(await store.teams.deleteTeam(team.teamId, { keepUsage })).toBe(true);
      await Promise.all(callers);
      const page = { after: undefined, limit: 10, search: team.teamId };
      const [found] = answered(await store.history.pagePeriods(page, { fromMs: 0, endMs: Date.now() + 60_000, open: false }));
      const [period] = found?.periods ?? [];
      expect(period?.requests).toBe(keepUsage ? charged : undefined);
      expect(period?.credit.balanceMicro).toBe(keepUsage ? 1_000_000_000 - 2500 * charged : undefined);
      await Promise.all([store.close(), other.close()]);
    });

    test('a process that serves completes it', async () => {
      const [store, leaving] = [promisedStore(await openBeside(place.url)), await openBeside(place.url)];
      const team = await teamUnderTest(store);
      for (let i = 0; i < 10 * KEYS; i++) answered(await store.teams.createKey(freshKey(team.teamId)));
      const deleting = leaving.teams.deleteTeam(team.teamId, { keepUsage });
      while ((await team.admit()).kind !== 'key_unknown') await nextTurn();
      await leaving.close();
      await deleting;
      const serving = await openStore(place.url, { log: SILENT, clock: { nowMs: Date.now }, commandTimeoutMs: 5000, maintains: true });
      await vi.waitFor(async () => expect(await locationsOf(place.url, [team.keyId, 'Team under test'])).toEqual([]), {
        timeout: 30_000,
        interval: 50,
      });
      expect(await team.admit()).toEqual({ kind: 'key_unknown' });
      await Promise.all([store.close(), serving.close()]);
    });
  },
);
