// The clock of a plugin's store: a step deletes nothing and ends nothing, all processes of the store judge it by the same record.
import { beforeEach, expect, test } from 'vitest';
import { ReferenceData, referenceStore } from '../../../support/reference-store.ts';
import { JudgedClock } from '../../../../src/domain/judged-clock.ts';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered, StoreAwayError } from '../../../../src/domain/store-unavailable.ts';
import type { StoreUnavailable } from '../../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { openStore } from '../../../../src/stores/open.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { SteppingClock } from '../../../support/stepping-clock.ts';

const AWAY: StoreUnavailable = { kind: 'unavailable', cause: 'away', advice: 'wait' };

let data: ReferenceData;
let real: MovableClock;
let machine: SteppingClock;
let isAway: boolean;

beforeEach(() => {
  [data, real, isAway] = [new ReferenceData(), new MovableClock(), false];
  machine = new SteppingClock(real);
});

/** A process that opens the store. */
async function opened(): Promise<Store> {
  const clock = new JudgedClock(machine);
  const store = referenceStore(clock, data);
  const read: typeof store.records.read = async (...asked) => (isAway ? AWAY : store.records.read(...asked));
  const others = new Map([['memory', async () => ({ ...store, records: { ...store.records, read } })]]);
  return openStore('memory:here', { log: SILENT, clock, others });
}

test.each([500, 35, -500])('%i days of difference for some seconds change nothing', async (days) => {
  const store = await opened();
  const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  await team.commit((await team.reserve(40)).requestId);
  machine.offByMs = days * DAY_MS;
  // A gateway that starts meanwhile is not deceived either, from its first operation on.
  const other = await opened();
  expect([store, other].map(({ clock }) => clock.step())).toEqual([{ byMs: days * DAY_MS }, { byMs: days * DAY_MS }]);
  expect(answered(await other.teams.usage(team.teamId))).toMatchObject({ characters: 40, periodStartMs: real.nowMs() });
  await team.commit((await team.reserve(40)).requestId);
  real.step(2500);
  machine.offByMs = 0;
  expect(await team.usage()).toMatchObject({ characters: 80, periodStartMs: real.nowMs() - 2500 });
  expect(store.clock.step()).toBeUndefined();
});

test('a clock that is accepted is believed by every process at its next look, and by those that start later', async () => {
  const [store, other] = [await opened(), await opened()];
  machine.offByMs = 500 * DAY_MS;
  expect(await other.clock.look()).toBeUndefined();
  expect(await store.clock.accept()).toEqual({ kind: 'accepted', nowMs: machine.wallMs(), steppedMs: 500 * DAY_MS });
  expect(await other.clock.look()).toBeUndefined();
  expect([store, other, await opened()].map(({ clock }) => clock.step())).toEqual([undefined, undefined, undefined]);
});

test('a store that is away when it is opened may be opened later, and one that is away later is asked again', async () => {
  isAway = true;
  await expect(opened()).rejects.toThrow(StoreAwayError);
  isAway = false;
  const store = await opened();
  machine.offByMs = 500 * DAY_MS;
  isAway = true;
  expect(await store.clock.look()).toEqual(AWAY);
  isAway = false;
  expect(await store.clock.look()).toBeUndefined();
  expect(store.clock.step()).toEqual({ byMs: 500 * DAY_MS });
});
