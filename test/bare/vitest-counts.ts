// Reads the numbers at the end of what vitest prints.
import { stripVTControlCharacters } from 'node:util';
import type { Ran } from './command.ts';
import type { Counts } from './tally.ts';

/** Tests that passed and all others; a file, an error or a status that fails without a test of its own counts as one failure. */
export function vitestCounts({ status, output }: Ran): Counts {
  const tests = lastLine(output, 'Tests');
  const passed = numberOf(tests, 'passed');
  const total = Number(/\((\d+)\)$/.exec(tests)?.[1] ?? 0);
  const failed = total - passed;
  const otherwise = status !== 0 || passed === 0 || numberOf(lastLine(output, 'Test Files'), 'failed') > 0;
  return { passed, failed: failed === 0 && otherwise ? 1 : failed };
}

/** Whether what was run closes as vitest does. */
export function isVitestRun({ output }: Ran): boolean {
  return lastLine(output, 'Tests') !== '';
}

function lastLine(output: string, title: string): string {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  return lines.findLast((line) => line.startsWith(`${title}  `)) ?? '';
}

function numberOf(line: string, kind: string): number {
  return Number(new RegExp(`(\\d+) ${kind}`).exec(line)?.[1] ?? 0);
}
