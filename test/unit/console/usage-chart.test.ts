// The bar chart, without scripts: bars as high as the usage, none for no usage, and a table of the same figures.
import { expect, test } from 'vitest';
import { usageChart } from '../../../src/console/usage-chart.ts';
import type { UsedSpan } from '../../../src/console/usage-chart.ts';

function chart(...characters: readonly number[]): string {
  const spans = characters.map((used, index): UsedSpan => ({ date: `2026-11-0${index + 1}`, characters: used, requests: index }));
  return usageChart({ id: 'days', title: 'Last days', unit: 'Day', spans }).text;
}
const heights = (text: string): number[] => [...text.matchAll(/<rect\s[^>]*height="([\d.]+)"/g)].map(([, height]) => Number(height));
const bottoms = (text: string): number[] =>
  [...text.matchAll(/y="([\d.]+)"\s+width="8"\s+height="([\d.]+)"/g)].map(([, y, height]) => Number(y) + Number(height));

test('bars are as high as their share of the highest, and stand on the baseline', () => {
  const text = chart(500, 1000, 250);
  expect([heights(text), bottoms(text)]).toEqual([
    [50, 100, 25],
    [100, 100, 100],
  ]);
  expect(text).toContain('1,000 characters');
  expect(text).toContain('<legend class="unseen">Last days: 1,750 characters in total; the most, 1,000, in 2026-11-02.</legend>');
});

test('very little usage still gives a visible bar, no usage gives none', () => {
  expect(heights(chart(1, 1_000_000, 0))).toEqual([1.5, 100, 0]);
});

test('without any usage there are no bars and no NaN', () => {
  const text = chart(0, 0);
  expect([heights(text), text.includes('NaN'), text.includes('Infinity')]).toEqual([[0, 0], false, false]);
  expect(text).toContain('<legend class="unseen">Last days: nothing was used.</legend>');
});

test('each bar is a radio button whose label has its figures; the last one is chosen at first', () => {
  const bars = [...chart(500, 0, 250).matchAll(/<label\s*>([\s\S]*?)<\/label\s*>/g)].map(([, bar]) => bar!);
  const words = bars.map((bar) =>
    bar
      .replaceAll(/<[^>]+>/g, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim(),
  );
  expect(words).toEqual([
    '2026-11-01: 500 characters, 0 requests',
    '2026-11-02: 0 characters, 1 request',
    '2026-11-03: 250 characters, 2 requests',
  ]);
  expect(bars.map((bar) => bar.includes(' checked'))).toEqual([false, false, true]);
  expect(bars.every((bar) => bar.includes('type="radio" name="days"'))).toBe(true);
});

test('the table has every day, the newest first', () => {
  const text = chart(5, 0, 7);
  const rows = [
    ...text.matchAll(/<th role="rowheader" scope="row">(.*?)<\/th>[\s\S]*?class="figures">(.*?)<\/td>[\s\S]*?class="figures">(.*?)<\/td>/g),
  ];
  expect(rows.map(([, ...cells]) => cells)).toEqual([
    ['2026-11-03', '7', '2'],
    ['2026-11-02', '0', '1'],
    ['2026-11-01', '5', '0'],
  ]);
});
