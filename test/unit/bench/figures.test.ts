// The figures of the bench: medians, ratios within a round, and the table that is in its README.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { contestants } from '../../../bench/contestants/all.ts';
import { figuresOf, readmeTable } from '../../../bench/figures.ts';
import type { Measured, Result } from '../../../bench/figures.ts';
import { machineLine } from '../../../bench/machine.ts';

function measured(name: string, cpuUs: readonly number[]): Measured {
  const rounds = cpuUs.map((us, index) => ({
    cpuUs: us,
    redisUs: undefined,
    perSecond: 1,
    p50Ms: 1,
    p99Ms: 2,
    isDisturbed: index === 0,
  }));
  return { name, does: '', rounds, single: [0.2, 0.4, 0.9], steady: [], memoryMib: 1, faults: [] };
}

test('a figure is a median with its middle half, and a ratio is to the baseline of the same round', () => {
  const { lingate } = figuresOf([measured('lingate', [30, 20, 90, 40]), measured('nginx', [20, 20, 30, 10])]);
  expect(lingate).toMatchObject({
    cpuUs: [27.5, 35, 52.5],
    ofNginx: [1.375, 2.25, 3.25],
    addedSingleMs: 0.4,
    addedSteadyMs: undefined,
    disturbed: 0.25,
  });
});

test('without the baseline there are no ratios', () => {
  expect(figuresOf([measured('lingate', [30])])['lingate']!.ofNginx).toBeUndefined();
});

test('the README shows the result that is in git, of every contestant', () => {
  const read = (file: string): string => readFileSync(new URL(`../../../bench/${file}`, import.meta.url), 'utf8');
  const result = JSON.parse(read('result.json')) as Result;
  const shown = /<!-- result -->\n([^]*)<!-- end of result -->/.exec(read('README.md'))![1];
  expect(shown).toBe(`\n${machineLine(result.machine)}:\n\n${readmeTable(result.contestants)}\n\n`);
  expect(Object.keys(result.contestants)).toEqual(contestants.map(({ name }) => name));
});
