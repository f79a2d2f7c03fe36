// The scorecard leaves nothing out: every row has its job and its place, whatever the result of its suite.
import { mkdtemp, rm } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardOf } from './card.ts';
import { jobsOf } from './jobs.ts';
import { REPORT_FILE_VARIABLE } from './report.ts';
import type { Report } from './report.ts';
import { ROWS } from './rows.ts';
import { runJob } from './run-job.ts';
import type { JobResult } from './run-job.ts';
import { SIZES, SIZE_VARIABLE } from './size.ts';
import { tableMarkdown, tableText } from './text.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const START_PROGRAM = new URL('../../support/start-program.ts', import.meta.url).href;
const MET: Report = { row: 1, figure: 'something', measured: '0 of 7', counts: { faults: 7 } };

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lingate-card-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs a program instead of a suite; it may call `tell(report)`. */
function run(program: string, commandMsMax = 60_000): Promise<JobResult> {
  const tell = `const tell = (line) => require('node:fs').appendFileSync(process.env.${REPORT_FILE_VARIABLE}, JSON.stringify(line) + '\\n');`;
  const commands = [{ kind: 'program', args: ['-e', tell + program] } as const];
  return runJob({ row: 1, commands }, { size: 'short', folder, commandMsMax });
}

test.each(SIZES)('of size %s, every row has one job, whose files exist', (size) => {
  const jobs = jobsOf(size);
  expect(jobs.map(({ row }) => row)).toEqual(ROWS.map(({ row }) => row));
  const files = jobs.flatMap(({ commands }) => commands.map((command) => (command.kind === 'tests' ? command.file : command.args[0]!)));
  expect(files.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
});

describe('a card', () => {
  const rowOf = (...results: JobResult[]) => cardOf(results).rows[0]!;
  const result = { row: 1, reports: [MET], failures: [], seconds: 3 };

  test('has every row, even those that were not run', () => {
    const { rows } = cardOf([]);
    expect(rows.map(({ row, verdict }) => [row, verdict])).toEqual(ROWS.map(({ row }) => [row, 'not measured']));
  });

  test('says met only of what was measured, met its target and did not fail', () => {
    expect(rowOf(result)).toMatchObject({ verdict: 'met', figures: ['something: 0 of 7'], seconds: 3 });
    expect(rowOf({ ...result, reports: [] }).verdict).toBe('not measured');
    const short = rowOf({ ...result, reports: [MET, { ...MET, met: false }] });
    expect(short).toMatchObject({ verdict: 'not met', figures: ['something: 0 of 7', 'something: 0 of 7 (not outstanding)'] });
    expect(rowOf({ ...result, failures: ['it broke'] })).toMatchObject({ verdict: 'not met', reasons: ['it broke'] });
    expect(rowOf({ ...result, reports: [], failures: ['it broke'] }).verdict).toBe('not met');
  });

  test('adds the counts up', () => {
    const reports = [MET, { ...MET, counts: { faults: 5, badInputs: 2 } }];
    expect(cardOf([{ ...result, reports }]).counts).toEqual({ badInputs: 2, faults: 12, requestsChecked: 0, requestsSimulated: 0 });
  });

  test('as a table has a line or more for every row, with the reason if its target is not met', () => {
    const card = cardOf([{ ...result, failures: ['a | b'] }]);
    expect(tableText(card)).toContain('not met: a | b');
    const lines = tableMarkdown(card).split('\n');
    expect(lines).toHaveLength(2 + ROWS.length);
    expect(lines[0]).toBe('| # | what | our figure | target | met | command |');
    expect(lines[2]).toContain(
      'something: 0 of 7<br>not met: a \\| b | difference 0; L1 to L5 hold per id | no | `npm run scorecard -- --rows 1` |',
    );
    expect(lines[3]).toContain('| not measured | `npm run scorecard -- --rows 2` |');
  });
});

describe('a job', () => {
  test('passes on what was reported for its row, and knows its size', async () => {
    const { reports, failures } = await run(`
      tell({ row: 1, figure: process.env.${SIZE_VARIABLE}, measured: 'x' });
      tell({ row: 2, figure: 'of another row', measured: 'x' });`);
    expect(reports).toEqual([{ row: 1, figure: 'short', measured: 'x' }]);
    expect(failures).toEqual([]);
  });

  test('that fails says so, and keeps earlier reports', async () => {
    const { reports, failures } = await run("tell({ row: 1, figure: 'a', measured: 'b' }); process.exitCode = 3;");
    expect(reports.length).toBeGreaterThan(0);
    expect(failures).toEqual([expect.stringMatching(/^ended with 3/)]);
  });

  test('that is killed says so, and half of a report counts as none', async () => {
    const { reports, failures } = await run(
      `tell({ row: 1, figure: 'whole', measured: 'b' });
      require('node:fs').appendFileSync(process.env.${REPORT_FILE_VARIABLE}, '{"row":1,"fig');
      process.kill(process.pid, 'SIGKILL');`,
    );
    expect(reports.at(-1)).toEqual({ row: 1, figure: 'whole', measured: 'b' });
    expect(failures).toEqual([expect.stringMatching(/^ended with SIGKILL/)]);
  });

  test('that hangs is killed with everything that it started', async () => {
    const { failures } = await run(
      `import('${START_PROGRAM}').then(({ launch }) => launch('sleep', ['600'], { stdio: 'inherit' })); setInterval(() => {}, 1e6);`,
      500,
    );
    expect(failures).toEqual([expect.stringMatching(/^ended with SIGTERM/)]);
  });
});
