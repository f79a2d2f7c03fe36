// Charts drawn by the server: round gridlines with words, and what is alone can be seen.
import { expect, test } from 'vitest';
import { drawn, ticksTo } from '../../../src/console/chart.ts';
import type { Chart } from '../../../src/console/chart.ts';

const chart = (more: Partial<Chart>, ...rows: (number | null)[][]): string =>
  drawn({
    words: 'Some <figures>',
    form: 'lines',
    series: rows.map((values, index) => ({ id: `row-${index}`, label: '', values })),
    shown: String,
    tick: 1,
    marks: [],
    spans: [],
    ...more,
  }).text;
const paths = (text: string): (string | undefined)[] => [...text.matchAll(/<path class="[^"]*" d="([^"]*)"/g)].map(([, path]) => path);

test.each([
  [0, 1, [0, 1]],
  [1, 1, [0, 1]],
  [3, 1, [0, 1, 2, 3]],
  [0.2, 0.1, [0, 0.1, 0.2]],
  [1, 0.1, [0, 0.2, 0.4, 0.6, 0.8, 1]],
  [22.2, 0.1, [0, 5, 10, 15, 20, 25]],
  [340_764, 1, [0, 100_000, 200_000, 300_000, 400_000]],
  [26, 1, [0, 10, 20, 30]],
])('up to %d, at least %d apart, gridlines are at round values', (most, least, ticks) => {
  const found = ticksTo(most, least);
  expect(found).toHaveLength(ticks.length);
  for (const [index, tick] of ticks.entries()) expect(found[index]).toBeCloseTo(tick);
});

test('a line is interrupted where there is no value, and a value without neighbours is a point', () => {
  expect(paths(chart({}, [2, 4, null, 4, null]))).toEqual(['M0.5 50L1.5 0M3.5 0', 'M3.5 0h0']);
});

test('areas stand on each other, the highest behind the others; the least bar can be seen', () => {
  expect(paths(chart({ form: 'stacked' }, [1, 0], [1, 2]))).toEqual(['M0 100V0H1V0H2V100', 'M0 100V50H1V100H2V100']);
  expect(paths(chart({ form: 'bars' }, [1000, 0, 1]))).toEqual(['M0.1 100V0h.8V100M2.1 100V98.5h.8V100']);
});

test('its sentence and the figures of its spans are there as text', () => {
  const text = chart({ spans: [{ from: 0, to: 2, words: '5 < 6' }], marks: [{ at: 1, words: '14:03' }] }, [1, 2]);
  expect(text).toContain('role="img" aria-label="Some &lt;figures&gt;"');
  expect(text).toMatch(/<rect x="0" width="2" height="100">\s*<title>5 &lt; 6<\/title>/);
  expect(text).toMatch(/<text x="50%"[^>]*>14:03<\/text>/);
  expect(text).toMatch(/<text class="value" x="-8" y="0%">2<\/text>/);
  expect(text).not.toMatch(/ style=/);
});
