// `npm run faults [-- --long]`: runs the scorecard's rows on reliability one after another, and prints a line for each.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import type { Row } from './scorecard.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const [size, ...more] = process.argv.slice(2);

if (more.length > 0 || (size !== undefined && size !== '--long')) {
  process.stderr.write('usage: npm run faults [-- --long]\n');
  process.exitCode = 2;
} else {
  process.exitCode = run(size === '--long');
}

/** The exit status of the tests. */
function run(long: boolean): number {
  const folder = mkdtempSync(join(tmpdir(), 'lingate-faults-'));
  const file = join(folder, 'rows');
  const startedAtMs = performance.now();
  const vitest = ['run', '--config', 'test/faults/vitest.config.ts', '--root', '.'];
  const env = { ...process.env, LINGATE_FAULTS: long ? 'long' : 'short', LINGATE_FAULTS_REPORT: file };
  const { status } = spawnSync('vitest', vitest, { cwd: ROOT, env, stdio: 'inherit' });
  const rows = existsSync(file) ? rowsIn(file) : [];
  rmSync(folder, { recursive: true, force: true });
  for (const { row, figure, measured, outstanding } of rows.toSorted((a, b) => a.row - b.row)) {
    process.stdout.write(`${row}. ${figure}: ${measured}. Outstanding would be: ${outstanding}.\n`);
  }
  process.stdout.write(`${rows.length} lines in ${Math.round((performance.now() - startedAtMs) / 1000)} s\n`);
  return status ?? 1;
}

function rowsIn(file: string): Row[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Row);
}
