// Whether the tests pass where no bug is planted: files share runs of vitest, because starting it takes longer than most of them.
import type { TestRun } from './mutation.ts';
import { CONTROL_VARIABLE, nameOf, reportOf } from './test-runner.ts';
import type { Report } from './test-runner.ts';
import type { Workshop } from './workshop.ts';

/** What one run of vitest shows: these runs without a planted bug. */
interface Control {
  readonly files: readonly string[];
  /** A pattern of test names, for one file. */
  readonly names?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runs: readonly TestRun[];
}

/** So many end long before the time limit of a run. */
const FILES_MAX = 12;

/** A whole file shows all of its parts, and a pattern of several names several parts. */
export function controlsOf(runs: readonly TestRun[]): readonly Control[] {
  return [...Map.groupBy(runs, ({ env = {} }) => JSON.stringify(env)).values()].flatMap((alike) =>
    controlsWith(alike[0]!.env ?? {}, alike),
  );
}

function controlsWith(env: Control['env'], runs: readonly TestRun[]): Control[] {
  const whole: (readonly [file: string, runs: readonly TestRun[]])[] = [];
  const parts: Control[] = [];
  for (const [file, ofFile] of Map.groupBy(runs, (run) => run.file)) {
    const names = [...new Set(ofFile.map((run) => run.names))];
    if (names.includes(undefined)) whole.push([file, ofFile]);
    else parts.push({ files: [file], names: names.map((name) => `(?:${name})`).join('|'), env, runs: ofFile });
  }
  const together: Control[] = [];
  for (let start = 0; start < whole.length; start += FILES_MAX) {
    const some = whole.slice(start, start + FILES_MAX);
    together.push({ files: some.map(([file]) => file), env, runs: some.flatMap(([, ofFile]) => ofFile) });
  }
  return [...parts, ...together];
}

/** Lines about the runs that do not pass on the unchanged sources, with what vitest said. */
export async function faultsOfControl(workshop: Workshop, { files, names, env, runs }: Control): Promise<readonly string[]> {
  const { report, output } = await reportOf(workshop, files, { names, env: { ...env, [CONTROL_VARIABLE]: 'on' } });
  const faulty = runs.filter((run) => !passesIn(report, run));
  return faulty.map((run) => `CONTROL FAILED: ${nameOf(run)} does not pass without any planted bug:\n${output}`);
}

/** Its file was run to the end, and of the tests that it names at least one passed and none failed. */
function passesIn(report: Report | undefined, { file, names }: TestRun): boolean {
  const found = report?.testResults.find(({ name }) => name.endsWith(`/${file}`));
  if (found?.status !== 'passed') return false;
  const named = new RegExp(names ?? '');
  return found.assertionResults.some(({ fullName, status }) => status === 'passed' && named.test(fullName));
}
