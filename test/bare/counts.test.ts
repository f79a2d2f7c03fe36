// A run is counted by what it says at its end, and never as passed when it failed.
import { expect, test } from 'vitest';
import { countsOf, failuresOf } from './counts.ts';

const VITEST = (files: string, tests: string): string =>
  `x\n\x1b[2m Test Files \x1b[22m ${files}\n\x1b[2m      Tests \x1b[22m ${tests}\n   Duration  1 s\n`;

test.each([
  ['its own closing line', 0, 'Tests  1 passed (1)\n12 passed, 0 failed\n', { passed: 12, failed: 0 }],
  ['failures of its closing line', 1, '12 passed, 3 failed\n', { passed: 12, failed: 3 }],
  ['a closing line that is not the last', 0, '12 passed, 0 failed\nand more\n', { passed: 1, failed: 0 }],
  ['a closing line without failures, but a status', 1, '12 passed, 0 failed\n', { passed: 12, failed: 1 }],
  ['nothing at all', 0, '0 passed, 0 failed\n', { passed: 0, failed: 1 }],
  ['vitest', 0, VITEST('3 passed (3)', '17 passed (17)'), { passed: 17, failed: 0 }],
  ['vitest with failures', 1, VITEST('1 failed | 2 passed (3)', '2 failed | 14 passed | 1 skipped (17)'), { passed: 14, failed: 3 }],
  ['vitest with a file that did not load', 1, VITEST('1 failed | 2 passed (3)', '17 passed (17)'), { passed: 17, failed: 1 }],
  ['vitest that was killed', undefined, 'RUN v5\n', { passed: 0, failed: 1 }],
  ['a command without tests', 0, 'all is well\n', { passed: 1, failed: 0 }],
  ['one that failed', 2, 'no\n', { passed: 0, failed: 1 }],
])('%s', (_name, status, output, counts) => {
  expect(countsOf({ status, output })).toEqual(counts);
});

test('what failed is named once, each with the whole of its error', () => {
  const failure =
    'test:bare | FAIL  test/a.test.ts > it\ntest:bare | Error: it said: 1\ntest:bare | 2\ntest:bare |  ❯ test/a.test.ts:1:2\n';
  const output = `${failure}\x1b[31m FAIL \x1b[39m test/b.test.ts\nError: no\n\n${failure}✓ FAILING\n`;
  expect(failuresOf({ output })).toEqual([
    'test:bare | FAIL  test/a.test.ts > it test:bare | Error: it said: 1 test:bare | 2',
    'FAIL  test/b.test.ts Error: no',
  ]);
});
