// A disturbed measurement is repeated; if none is calm, the calmest is kept and marked as disturbed.
import { expect, test } from 'vitest';
import { Patience, severity } from '../../../bench/run/calm.ts';

/** Measurements in which a gateway waits for its core far longer than anything else disturbs this machine. */
function measurements(...waits: number[]) {
  let made = 0;
  return () => Promise.resolve({ result: made, waited: waits[made++]! });
}

test('the calmest of the allowed tries is kept', async () => {
  const { result, calmness } = await new Patience(3, 60_000).calmest(measurements(9000, 5000, 7000));
  expect(result).toBe(1);
  expect(calmness).toMatchObject({ isCalm: false, tries: 3, disturbance: { waited: 5000 } });
});

test('when the time for repeating is used up, the first measurement is kept', async () => {
  const patience = new Patience(3, 0);
  expect((await patience.calmest(measurements(9000, 1))).calmness.tries).toBe(1);
});

test.each([
  ['a core taken by the hypervisor', { stolen: 0.04, others: 0, waited: 0 }],
  ['other programs', { stolen: 0, others: 0.11, waited: 0 }],
  ['a gateway that waits for its core', { stolen: 0, others: 0, waited: 0.06 }],
])('%s: disturbed, but not with half of that value', (_what, disturbance) => {
  expect(severity(disturbance)).toBeGreaterThan(1);
  const { stolen, others, waited } = disturbance;
  expect(severity({ stolen: stolen / 2, others: others / 2, waited: waited / 2 })).toBeLessThan(1);
});
