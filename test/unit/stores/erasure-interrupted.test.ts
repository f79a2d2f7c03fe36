// A deletion that is interrupted anywhere: repeating it completes it, and nothing of the team is left.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered } from '../../../src/domain/store-unavailable.ts';
import { freshKey, teamUnderTest } from '../../../src/testing/store/team-under-test.ts';
import { created, DE, dictionary } from '../../../src/testing/store/dictionaries-under-test.ts';
import { promisedStore } from '../../support/promised-store.ts';
import { openBeside, storePlace } from '../../support/store-place.ts';
import type { StorePlace } from '../../support/store-place.ts';
import { placesOf } from '../../support/store-search.ts';

/** Turns of the event loop after which the deleting process is gone. */
const TURNS = [0, 1, 2, 3, 5, 8, 13, 21, 34, 55];
const KEYS = 20;

describe.each(['sqlite', 'redis'] as const)('on %s', (kind) => {
  let place: StorePlace;

  beforeAll(async () => {
    place = await storePlace(kind);
  });

  afterAll(() => place.remove());

  test.each(TURNS)('after %i turns', async (turns) => {
    const [store, leaving] = [promisedStore(await openBeside(place.url)), await openBeside(place.url)];
    const team = await teamUnderTest(store);
    const keys = Array.from({ length: KEYS }, () => freshKey(team.teamId));
    for (const key of keys) answered(await store.teams.createKey(key));
    await created(store, team.teamId, dictionary(DE));
    await team.commit((await team.reserve(5)).requestId);
    const deleting = leaving.teams.deleteTeam!(team.teamId, { keepUsage: false });
    for (let i = 0; i < turns; i++) await nextTurn();
    await leaving.close();
    await deleting;
    const found = answered(await store.teams.deleteTeam!(team.teamId, { keepUsage: false }));
    expect(typeof found).toBe('boolean');
    expect(await team.admit()).toEqual({ kind: 'key_unknown' });
    expect(await placesOf(place.url, [team.teamId, ...keys.flatMap(({ keyId, digest }) => [keyId, digest])])).toEqual([]);
    await store.close();
  });
});
