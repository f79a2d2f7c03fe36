// Some seconds of fuzzing on both listeners; `npm run task -- fuzz` runs for any time, with another seed every time.
import { beforeAll, describe, expect, test } from 'vitest';
import { report } from '../scorecard/report.ts';
import { sized } from '../scorecard/size.ts';
import { fuzz } from './fuzz.ts';
import type { FuzzReport } from './fuzz.ts';
import { LISTENERS } from '../../support/listeners.ts';
import { SEED } from '../../support/seed.ts';

const SECONDS = sized(4, 40, 1800);

const reports = new Map<string, FuzzReport>();

beforeAll(
  async () => {
    await Promise.all(LISTENERS.map(async (listener) => reports.set(listener, await fuzz({ listener, seed: SEED, seconds: SECONDS }))));
  },
  90_000 + 1000 * SECONDS,
);

describe.each(LISTENERS)('the %s listener', (listener) => {
  test('mutated requests cause no crash, no 5xx, no bug, no hang beyond the deadlines, and appear in no field', () => {
    expect(reports.get(listener)!.finds).toEqual([]);
  });

  test('many of them reach an answer of ours', () => {
    const { answers, cases } = reports.get(listener)!;
    // A share, because the number of cases depends on the machine.
    for (const status of ['200', '400', '401', '404', '405']) expect(answers[status] ?? 0).toBeGreaterThan(cases / 1000);
    report({
      row: 17,
      figure: `mutated requests on sockets, ${SECONDS} s, ${listener} listener`,
      measured: `${cases} cases: 0 crashes, 0 5xx, 0 hangs beyond a deadline`,
      counts: { badInputs: cases },
    });
  });
});
