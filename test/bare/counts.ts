// Reads from what a command printed how many tests passed and how many did not.
import { stripVTControlCharacters } from 'node:util';
import type { Ran } from './command.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** By its own last line, by vitest's, or as one; a status that fails without a failed test is one failure. */
export function countsOf({ status, output }: Ran): Counts {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  const counts = closingLine(lines) ?? vitestCounts(lines) ?? { passed: status === 0 ? 1 : 0, failed: 0 };
  const unsaid = (status !== 0 || counts.passed === 0) && counts.failed === 0;
  return { passed: counts.passed, failed: unsaid ? 1 : counts.failed };
}

/** What failed, by the names that vitest prints, each with the line that follows: the error. */
export function failuresOf({ output }: Pick<Ran, 'output'>): readonly string[] {
  const lines = stripVTControlCharacters(output).split('\n');
  const named = lines.flatMap((line, i) => (/(^|[| ])FAIL /.test(line) ? [`${line.trim()} ${lines[i + 1]?.trim() ?? ''}`] : []));
  return [...new Set(named)];
}

/** `N passed, N failed`. */
function closingLine(lines: readonly string[]): Counts | undefined {
  const line = lines.findLast((text) => text !== '') ?? '';
  const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? [];
  return passed === undefined ? undefined : { passed: Number(passed), failed: Number(failed) };
}

/** Whatever did not pass counts as failed, also what was skipped, and a file that failed without a test. */
function vitestCounts(lines: readonly string[]): Counts | undefined {
  const tests = lines.findLast((line) => line.startsWith('Tests  '));
  if (tests === undefined) return undefined;
  const passed = numberOf(tests, /(\d+) passed/);
  const failed = numberOf(tests, /\((\d+)\)$/) - passed;
  const files = numberOf(lines.findLast((line) => line.startsWith('Test Files  ')) ?? '', /(\d+) failed/);
  return { passed, failed: failed === 0 ? files : failed };
}

function numberOf(line: string, pattern: RegExp): number {
  return Number(pattern.exec(line)?.[1] ?? 0);
}
