// Every kind of engine failure has a row in the manual, and `engine check` prints that row's sentence.
import { expect, test } from 'vitest';
import { adviceFor } from '../../../src/docs/engine-advice.ts';
import { openMetrics } from '../../../src/ops/metrics/metrics.ts';
import type { AttemptFailure, FailureDetail } from '../../../src/ports/engine.ts';
import { manualPage } from '../../support/manual.ts';

const PAGE = manualPage('engine-failures');
const TABLE = PAGE.slice(PAGE.indexOf('<!-- table of engine failures -->'));

/** The manual's advice in the row with this first cell. */
function advised(mark: string): string | undefined {
  return TABLE.split('\n')
    .find((line) => line.startsWith(`| ${mark} |`))
    ?.split(' | ')[2]
    ?.replace(/ \|$/, '');
}

test('every outcome of an attempt but success has a row', async () => {
  const metrics = openMetrics();
  metrics.engine('default').replica('http://a');
  const words = [...(await metrics.render()).matchAll(/^lingate_engine_attempts_total\{.*outcome="(\w+)"\}/gm)].map(([, word]) => word!);
  expect(words.length).toBeGreaterThan(10);
  for (const word of words.filter((one) => one !== 'usable')) {
    expect([word, advised(`\`${word}\``)]).toEqual([word, adviceFor({ failure: word as AttemptFailure })]);
  }
});

test.each<[mark: string, detail: FailureDetail]>([
  ['`connect`, `cause` `refused`', { failure: 'connect', cause: 'refused' }],
  ['`connect`, `cause` `tls_name`', { failure: 'connect', cause: 'tls_name' }],
  ['`status`, `status` 401, 403', { failure: 'status', status: 403 }],
  ['`status`, `status` 404, 405', { failure: 'status', status: 404 }],
  ['`status`, `cause` `model_unknown`', { failure: 'status', status: 404, cause: 'model_unknown' }],
  ['`status`', { failure: 'status', status: 418 }],
  // The status matters only for an attempt that failed by it.
  ['`unsupported_pair`', { failure: 'unsupported_pair', status: 400 }],
  ['`engine_quota`', { failure: 'engine_quota', status: 456 }],
])('the check prints the sentence of the row %s', (mark, detail) => {
  expect(adviceFor(detail)).toBe(advised(mark));
});

test('advice is a whole sentence in one line', () => {
  const sentences = TABLE.slice(0, TABLE.indexOf('<!-- end -->')).split('\n').slice(3, -1);
  for (const row of sentences) expect(row).toMatch(/^\| `\w+`[^|]* \| [^|]+ \| [A-Z][^|]+\. \|$/);
});
