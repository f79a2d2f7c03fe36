// The reference model, two instances of the SQLite store and two of the Redis store give the same answers to random histories.
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { PluginStore } from '../../../src/ports/plugin.ts';
import { storeBacking } from '../../support/backings.ts';
import type { JudgingBacking } from '../../support/backings.ts';
import { checkedStore } from '../../support/checked-store.ts';
import { MovableClock } from '../../../src/testing/movable-clock.ts';
import type { Contender } from '../../support/model/agreement.ts';
import { busyHistory, commandsIn, history } from '../../support/model/history.ts';
import { replay } from '../../support/model/replay.ts';
import { SteppingClock } from '../../support/stepping-clock.ts';
import { draws, SEED, wholeNumber } from '../../support/seed.ts';
import { report } from '../../evidence/scorecard/report.ts';

/** The scorecard asks for its own number. */
const RUNS = wholeNumber('LINGATE_PROPERTY_RUNS') ?? draws(10);
/** A failure prints it; with this variable and the run's seed it is replayed without the histories before. */
const SHRUNK_PATH = process.env['LINGATE_PROPERTY_PATH'];
const STEPS_MAX = 60;
/** Shrinking a failure takes as long as several hundred runs. */
const TIMEOUT_MS = 120_000 + RUNS * 2000;

const NAMES = ['SQLite', 'Redis'];

const clock = new MovableClock();
/** Of the stores; it goes wrong in the histories, and the model has the right time. */
const machine = new SteppingClock(clock);
const backings: JudgingBacking[] = [];
/** Two instances of each, like two gateways. */
const stores: PluginStore[][] = [];

beforeAll(async () => {
  const opened = [await storeBacking('sqlite', 'normal'), await storeBacking('redis')];
  for (const backing of opened) {
    backings.push(backing);
    stores.push([await backing.openJudging(machine), await backing.openJudging(machine)]);
  }
});

afterAll(async () => {
  await Promise.all(stores.flat().map((store) => store.close()));
  await Promise.all(backings.map((backing) => backing.remove()));
});

it(
  'model, SQLite and Redis give the same answers and have the same accounts, whatever is done, repeated, late or timed, and however their clocks step',
  async () => {
    const others = NAMES.map((name, index): Contender => ({ name, stores: stores[index]! }));
    let commands = 0;
    const answered = fc.asyncProperty(history(STEPS_MAX), (drawn) => {
      commands += commandsIn(drawn);
      return replay(drawn, { clock, machine }, others);
    });
    await fc.assert(answered, {
      numRuns: RUNS,
      ...(SHRUNK_PATH === undefined ? {} : { path: SHRUNK_PATH }),
    });
    report({
      row: 9,
      figure: 'random histories on the model, SQLite and Redis',
      measured: `0 divergences in ${RUNS} histories of ${commands} commands, seed ${SEED}`,
      met: RUNS >= 1000 && commands >= 50_000,
    });
  },
  TIMEOUT_MS,
);

it(
  'a team limited only by its rate is admitted exactly as in the model, wherever the clock’s seconds begin',
  async () => {
    const others = NAMES.map((name, index): Contender => ({ name, stores: stores[index]! }));
    const runs = Math.ceil(RUNS / 2);
    let commands = 0;
    const answered = fc.asyncProperty(busyHistory(STEPS_MAX), (drawn) => {
      commands += commandsIn(drawn);
      return replay(drawn, { clock, machine }, others);
    });
    await fc.assert(answered, { numRuns: runs });
    report({
      row: 9,
      figure: 'random histories of a busy team on all of them',
      measured: `0 divergences in ${runs} histories of ${commands} commands, seed ${SEED}`,
    });
  },
  TIMEOUT_MS,
);

it('the check of a store finds nothing in what all of them have left', async () => {
  for (const { url } of backings) {
    const { counts, findings } = await checkedStore(url);
    expect([url, findings]).toEqual([url, []]);
    expect(counts.teams).toBeGreaterThan(RUNS);
  }
});
