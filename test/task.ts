// Runs one of the project's tasks: `npm run task -- NAME [ARGUMENTS]`, or `--help` for the list; installs first what the task starts.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from './support/debian-packages.ts';
import { commandNamed, needsOf } from './support/programs.ts';

interface Task {
  readonly what: string;
  /** Seen from the project's folder. */
  readonly file: string;
  /** In front of those that are given. */
  readonly args?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const VITEST = 'node_modules/vitest/vitest.mjs';
const suite = (what: string, config: string): Task => ({ what, file: VITEST, args: ['run', '--config', config, '--root', '.'] });

/** The scripts of package.json run those that it names by the same names. */
export const TASKS = {
  test: suite('the tests', 'test/vitest.config.ts'),
  'test:evidence': suite('evidence that takes minutes: attacks, faults, pages in a browser', 'test/evidence/vitest.config.ts'),
  'test:long': suite('the evidence that .ci/run has no time for', 'test/evidence/long/vitest.config.ts'),
  'test:package': suite('the package, installed in an empty project', 'test/package/vitest.config.ts'),
  'test:load': suite('overload, slow callers, resets; on a quiet machine', 'test/evidence/load/vitest.config.ts'),
  'test:power': {
    what: 'plants bugs, each to be caught; arguments: words of their names, --share 3/8',
    file: 'test/evidence/power/run.ts',
  },
  'test:bare': { what: "the README's two commands on a fresh Debian", file: 'test/bare/main.ts' },
  'test:image': { what: 'builds the Dockerfile without Docker, and runs it', file: 'test/image/main.ts' },
  scorecard: { what: 'all rows of the scorecard, as a table', file: 'test/evidence/scorecard/run.ts' },
  simulate: { what: 'the simulation, by seeds', file: 'test/evidence/simulation/main.ts' },
  fuzz: { what: 'fuzzes both listeners for as long as it is told', file: 'test/evidence/input/fuzz-run.ts' },
  isolation: { what: 'two teams, one of which does its worst: what the other meets', file: 'test/evidence/isolation/run.ts' },
  soak: { what: 'one long run of mixed requests', file: 'test/evidence/load/soak.ts' },
  bench: { what: 'the gateway beside its peers', file: 'bench/main.ts' },
  'bench:curves': { what: 'what a request costs while one thing is turned up', file: 'bench/curves.ts' },
  'bench:ledger': { what: 'what the ledger costs Redis and the driver', file: 'bench/ledger.ts' },
  'bench:teams': { what: 'what operators wait for with 100,000 teams', file: 'bench/teams.ts' },
  'bench:history': { what: 'what a year of days takes of each store', file: 'bench/history.ts' },
  'bench:micro': { what: "the parts of a request's way, each beside a floor", file: 'bench/micro.ts' },
  pictures: { what: "the console's pages as pictures", file: 'test/pictures/main.ts' },
  manual: { what: 'writes the tables of engine protocols into the manual', file: 'src/manual.ts' },
  release: { what: 'the package with its bill of materials and checksums, in release/', file: 'src/release.ts' },
  prepare: { what: 'installs what a task starts: prepare NAME', file: '' },
} as const satisfies Readonly<Record<string, Task>>;

type TaskName = keyof typeof TASKS;

const isTask = (name: string | undefined): name is TaskName => name !== undefined && Object.hasOwn(TASKS, name);

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));

async function main([name, ...args]: readonly string[]): Promise<void> {
  if (name === '--help' || name === undefined) {
    process.stdout.write(help());
    process.exitCode = name === undefined ? 2 : 0;
  } else if (!isTask(name)) {
    fail(`${name} is no task: ${Object.keys(TASKS).join(', ')}`);
  } else if (name !== 'prepare') {
    await prepare(name);
    // As `npm run NAME -- …` has it: npm has taken the first `--` for itself.
    await run(TASKS[name], args[0] === '--' ? args.slice(1) : args);
  } else if (commandNamed(args[0]) === undefined) {
    fail(`prepare ${args[0] ?? ''}: name a task that starts programs`);
  } else {
    await prepare(args[0]!);
  }
}

async function prepare(name: string): Promise<void> {
  const command = commandNamed(name);
  if (command !== undefined) await ensureInstalled(needsOf(command));
}

/** In this process, as if Node had been started with the file: signals and the exit status are its own. */
async function run(task: Task, given: readonly string[]): Promise<void> {
  process.chdir(ROOT);
  process.argv = [process.argv[0]!, ROOT + task.file, ...(task.args ?? []), ...given];
  await import(new URL(`../${task.file}`, import.meta.url).href);
}

function help(): string {
  const width = Math.max(...Object.keys(TASKS).map((name) => name.length));
  const rows = Object.entries<Task>(TASKS).map(([name, { what }]) => `  ${name.padEnd(width)}  ${what}\n`);
  return `usage: npm run task -- NAME [ARGUMENTS]\n\n${rows.join('')}`;
}

function fail(message: string): void {
  process.stderr.write(`task: ${message}\n`);
  process.exitCode = 2;
}
