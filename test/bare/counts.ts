// Reads from what a command printed how many tests passed and how many did not.
import { stripVTControlCharacters } from 'node:util';
import type { Ran } from './command.ts';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

const ERROR_LINES_MAX = 20;

/** By its own last line, by vitest's, or as one; a status that fails without a failed test is one failure. */
export function countsOf({ status, output }: Ran): Counts {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  const counts = closingLine(lines) ?? vitestCounts(lines) ?? { passed: status === 0 ? 1 : 0, failed: 0 };
  const unsaid = (status !== 0 || counts.passed === 0) && counts.failed === 0;
  return { passed: counts.passed, failed: unsaid ? 1 : counts.failed };
}

/** What failed, by the names that vitest prints, each with the error, which may have several lines: a program's last words are in the last. */
export function failuresOf({ output }: Pick<Ran, 'output'>): readonly string[] {
  const lines = stripVTControlCharacters(output)
    .split('\n')
    .map((line) => line.trim());
  const named = lines.flatMap((line, i) => (/(^|[| ])FAIL /.test(line) ? [[line, ...errorAfter(lines, i)].join(' ')] : []));
  return [...new Set(named)];
}

/** Up to the place in the code, which vitest marks, or the end of the paragraph. */
function errorAfter(lines: readonly string[], index: number): readonly string[] {
  const rest = lines.slice(index + 1, index + 1 + ERROR_LINES_MAX);
  const end = rest.findIndex((line) => /^(.*\|\s*)?(❯|$)/.test(line));
  return end === -1 ? rest : rest.slice(0, end);
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
