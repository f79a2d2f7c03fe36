// The clock of a database file: a step deletes nothing and ends nothing, all processes of the file judge it by the same row.
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { JudgedClock } from '../../../../src/domain/judged-clock.ts';
import { DAY_MS } from '../../../../src/domain/period.ts';
import { answered } from '../../../../src/domain/store-unavailable.ts';
import type { Store } from '../../../../src/ports/store.ts';
import { readMark } from '../../../../src/stores/records/record-clock.ts';
import { openSqliteStore } from '../../../../src/stores/sqlite/sqlite-store.ts';
import { MovableClock } from '../../../../src/testing/movable-clock.ts';
import { promisedStore } from '../../../support/promised-store.ts';
import { SILENT } from '../../../support/silent-log.ts';
import { SteppingClock } from '../../../support/stepping-clock.ts';
import { teamUnderTest } from '../../../../src/testing/store/team-under-test.ts';
import { sqliteFile } from './sqlite-file.ts';
import type { SqliteFile } from './sqlite-file.ts';

let file: SqliteFile;
let real: MovableClock;
let machine: SteppingClock;
const open: Store[] = [];

beforeEach(() => {
  file = sqliteFile();
  real = new MovableClock();
  machine = new SteppingClock(real);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((store) => store.close()));
  await file.remove();
});

async function opened(looks = true): Promise<Store> {
  const store = await openSqliteStore({
    path: file.path,
    log: SILENT,
    clock: new JudgedClock(machine),
    durability: 'normal',
    busyTimeoutMs: 5000,
  });
  open.push(store);
  if (looks) expect(await store.clock.look()).toBeUndefined();
  return store;
}

test.each([500, 35, -500])('%i days of difference for some seconds change nothing', async (days) => {
  const store = await opened();
  const team = await teamUnderTest(promisedStore(store), { characterLimit: 100 });
  await team.commit((await team.reserve(40)).requestId);
  machine.offByMs = days * DAY_MS;
  // A gateway that starts meanwhile is not deceived either, from its first operation on.
  const other = await opened(false);
  expect([store, other].map(({ clock }) => clock.step())).toEqual([{ byMs: days * DAY_MS }, { byMs: days * DAY_MS }]);
  await team.commit((await team.reserve(40)).requestId);
  real.step(2500);
  machine.offByMs = 0;
  expect(await team.usage()).toMatchObject({ characters: 80 });
  const periods = answered(await store.history.periods(team.teamId))!;
  expect(periods.map(({ startMs, closed }) => [startMs, closed])).toEqual([[real.nowMs() - 2500, false]]);
  expect(store.clock.step()).toBeUndefined();
});

describe('a clock that is accepted', () => {
  test('is believed by every process of the file at its next look', async () => {
    const [store, other] = [await opened(), await opened()];
    machine.offByMs = 500 * DAY_MS;
    await other.clock.look();
    expect(await store.clock.accept()).toEqual({ kind: 'accepted', nowMs: machine.wallMs(), steppedMs: 500 * DAY_MS });
    await other.clock.look();
    expect([store, other].map(({ clock }) => clock.step())).toEqual([undefined, undefined]);
    expect((await opened()).clock.step()).toBeUndefined();
  });

  test('is what the file remembers, and only then', async () => {
    const store = await opened();
    const latest = () => readMark(String(file.query("SELECT value FROM records WHERE kind = 'clock'")[0]!['value']))?.latestMs;
    machine.offByMs = 500 * DAY_MS;
    real.step(120_000);
    await store.clock.look();
    expect(latest()).toBe(real.nowMs() - 120_000);
    await store.clock.accept();
    expect(latest()).toBe(machine.wallMs());
  });
});

test('without a clock that is judged, tests move time as they like', async () => {
  const store = await openSqliteStore({ path: file.path, log: SILENT, clock: real, durability: 'normal', busyTimeoutMs: 5000 });
  open.push(store);
  real.step(500 * DAY_MS);
  expect(await store.clock.look()).toBeUndefined();
  expect(store.clock.step()).toBeUndefined();
  expect(await store.clock.accept()).toEqual({ kind: 'accepted', nowMs: real.nowMs(), steppedMs: 0 });
});
