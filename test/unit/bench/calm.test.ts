// A disturbed measurement is made again, and when none is calm the calmest is kept and told as what it is.
import { expect, test } from 'vitest';
import { Patience, severity } from '../../../bench/run/calm.ts';

/** Waits of a gateway for its core, far above whatever else this machine does meanwhile. */
function measurements(...waits: number[]) {
  let made = 0;
  return () => Promise.resolve({ result: made, waited: waits[made++]! });
}

test('the calmest of as many tries as are allowed', async () => {
  const { result, calmness } = await new Patience(3, 60_000).calmest(measurements(9000, 5000, 7000));
  expect(result).toBe(1);
  expect(calmness).toMatchObject({ isCalm: false, tries: 3, disturbance: { waited: 5000 } });
});

test('when the time for trying again is used up, one measurement has to do', async () => {
  const patience = new Patience(3, 0);
  expect((await patience.calmest(measurements(9000, 1))).calmness.tries).toBe(1);
});

test.each([
  ['a core taken away', { stolen: 0.04, others: 0, waited: 0 }],
  ['programs that are not ours', { stolen: 0, others: 0.11, waited: 0 }],
  ['a gateway that waits for its core', { stolen: 0, others: 0, waited: 0.06 }],
])('%s is a disturbance, half of it is none', (_what, disturbance) => {
  expect(severity(disturbance)).toBeGreaterThan(1);
  const { stolen, others, waited } = disturbance;
  expect(severity({ stolen: stolen / 2, others: others / 2, waited: waited / 2 })).toBeLessThan(1);
});
