// OpenMetrics: who gets it, and its text: names of families, escapes, exemplars, counters that cannot be called so.
import { expect, test } from 'vitest';
import { openMetricsText, prefersOpenMetrics } from '../../../../src/ops/metrics/openmetrics-text.ts';

test.each([
  // Prometheus 2.42.
  [
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1',
    true,
  ],
  ['application/openmetrics-text', true],
  ['APPLICATION/OpenMetrics-Text; q=0.5', true],
  ['text/plain;q=0.5, application/openmetrics-text;q=0.4', false],
  ['application/openmetrics-text;q=0', false],
  ['application/openmetrics-text;q=nonsense', false],
  ['text/plain', false],
  ['*/*', false],
  ['', false],
])('Accept: %s', (accept, expected) => expect(prefersOpenMetrics(accept)).toBe(expected));

test('each family is told by its type, and buckets have their exemplars', () => {
  const exemplar = { traceId: 'ab', value: 0.5, atMs: 1_700_000_000_123 };
  const text = openMetricsText([
    { name: 'a_total', help: 'Two\nlines, a \\ and a "', type: 'counter', values: [{ labels: { x: 'q"\\\n' }, value: 3 }] },
    { name: 'b', help: 'h', type: 'counter', values: [{ labels: {}, value: 1 }] },
    { name: 'c_total', help: 'h', type: 'counter', values: [{ labels: {}, value: 1 }] },
    { name: 'c', help: 'h', type: 'gauge', values: [{ labels: {}, value: Number.POSITIVE_INFINITY }] },
    {
      name: 'd',
      help: 'h',
      type: 'histogram',
      values: [
        { metricName: 'd_bucket', labels: { le: 1 }, value: 1, exemplar },
        { metricName: 'd_bucket', labels: { le: '+Inf' }, value: 1, exemplar: null },
        { metricName: 'd_sum', labels: {}, value: 0.5 },
        { metricName: 'd_count', labels: {}, value: 1 },
      ],
    },
  ]);
  expect(text.split('\n')).toEqual([
    '# TYPE a counter',
    '# HELP a Two\\nlines, a \\\\ and a \\"',
    'a_total{x="q\\"\\\\\\n"} 3',
    '# TYPE b unknown',
    '# HELP b h',
    'b 1',
    '# TYPE c_total unknown',
    '# HELP c_total h',
    'c_total 1',
    '# TYPE c gauge',
    '# HELP c h',
    'c +Inf',
    '# TYPE d histogram',
    '# HELP d h',
    'd_bucket{le="1"} 1 # {trace_id="ab"} 0.5 1700000000.123',
    'd_bucket{le="+Inf"} 1',
    'd_sum 0.5',
    'd_count 1',
    '# EOF',
    '',
  ]);
});
