// Plugins' figures in the console: those of all processes, added up.
import { expect, test } from 'vitest';
import { mergeFigures } from '../../../src/app/process-state.ts';

test('the figures of all processes are added up by plugin', () => {
  const one = {
    plugin: 'memory',
    figures: [
      { name: 'remembered', part: 1, whole: 4 },
      { name: 'saved', count: 10 },
    ],
  };
  const other = {
    plugin: 'memory',
    figures: [
      { name: 'remembered', part: 2, whole: 6 },
      { name: 'saved', count: 5 },
    ],
  };
  expect(mergeFigures([{ plugins: [one] }, {}, { plugins: [other, { plugin: 'p', figures: [{ name: 'saved', count: 1 }] }] }])).toEqual([
    {
      plugin: 'memory',
      figures: [
        { name: 'remembered', part: 3, whole: 10 },
        { name: 'saved', count: 15 },
      ],
    },
    { plugin: 'p', figures: [{ name: 'saved', count: 1 }] },
  ]);
});
