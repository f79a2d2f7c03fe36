// The reference model, two instances of the SQLite store and two of the Redis store give the same answers to random histories.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { storeBacking } from '../../support/backings.ts';
import { Equality } from '../../support/model/equality.ts';
import { busyHistory, history } from '../../support/model/history.ts';
import { draws, SEED, wholeNumber } from '../../support/seed.ts';
import { report } from '../../evidence/scorecard/report.ts';

/** The scorecard asks for its own number. */
const RUNS = wholeNumber('LINGATE_PROPERTY_RUNS') ?? draws(10);
const STEPS_MAX = 60;
/** Shrinking a failure takes as long as several hundred runs. */
const TIMEOUT_MS = 120_000 + RUNS * 2000;

const stores = new Equality([
  { name: 'SQLite', backing: await storeBacking('sqlite', 'normal') },
  { name: 'Redis', backing: await storeBacking('redis') },
]);

beforeAll(() => stores.open());
afterAll(() => stores.close());

it(
  'model, SQLite and Redis give the same answers and have the same accounts, whatever is done, repeated, late or timed, and however their clocks step',
  async () => {
    const commands = await stores.agree(history(STEPS_MAX), RUNS);
    expect(commands).toBeGreaterThan(RUNS);
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
    const runs = Math.ceil(RUNS / 2);
    const commands = await stores.agree(busyHistory(STEPS_MAX), runs);
    expect(commands).toBeGreaterThan(runs);
    report({
      row: 9,
      figure: 'random histories of a busy team on all of them',
      measured: `0 divergences in ${runs} histories of ${commands} commands, seed ${SEED}`,
    });
  },
  TIMEOUT_MS,
);

it('the check of a store finds nothing in what all of them have left', async () => expect(await stores.findings()).toEqual([]));
