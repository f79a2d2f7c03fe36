// Runs one of the project's tasks: `npm run task -- NAME [ARGUMENTS]`, or `--help` for the list; installs first what the task starts.
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './support/built.ts';
import { ensureInstalled } from './support/debian-packages.ts';
import { commandNamed, needsOf } from './support/programs.ts';

interface Task {
  readonly what: string;
  /** Relative to the project's folder. */
  readonly file: string;
  /** Precede the given arguments. */
  readonly args?: readonly string[];
}

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const VITEST = 'node_modules/vitest/vitest.mjs';
const suite = (what: string, config: string): Task => ({ what, file: VITEST, args: ['run', '--config', config, '--root', '.'] });

/** Scripts of package.json run tasks of the same name, but for `prepare`, which npm itself runs: it builds. */
export const TASKS = {
  test: suite('the tests', 'test/vitest.config.ts'),
  'test:evidence': suite('tests that take minutes: attacks, faults, pages in a browser', 'test/evidence/vitest.config.ts'),
  'test:long': suite('tests that are too long for .ci/run', 'test/long/vitest.config.ts'),
  'test:package': suite('the package, installed in an empty project', 'test/package/vitest.config.ts'),
  'test:load': suite('overload, slow callers, resets; on a quiet machine', 'test/load/vitest.config.ts'),
  'test:power': {
    what: 'wrong ports, each to be noticed by a contract, and edits of Lua and SQL; --ports: only the wrong ports, in seconds',
    file: 'test/evidence/power/run.ts',
  },
  'test:bare': { what: "the README's two commands on a fresh Debian", file: 'test/bare/main.ts' },
  'test:image': {
    what: 'builds the Dockerfile without Docker, and runs it; --twice: also that a second build has the same bytes',
    file: 'test/image/main.ts',
  },
  'test:office': {
    what: 'LibreOffice opens documents whose texts were replaced, and exported tables; --files N of each kind',
    file: 'test/office/main.ts',
  },
  scorecard: { what: 'all rows of the scorecard, as a table', file: 'test/evidence/scorecard/run.ts' },
  simulate: { what: 'the simulation, by seeds', file: 'test/evidence/simulation/main.ts' },
  fuzz: { what: 'fuzzes both listeners for a given time', file: 'test/evidence/input/fuzz-run.ts' },
  documents: {
    what: 'documents over two gateways that are killed: nothing lost, nothing charged wrongly',
    file: 'test/evidence/documents/reconciliation-run.ts',
  },
  soak: { what: 'one long run with mixed requests', file: 'test/evidence/load/soak.ts' },
  bench: { what: 'the gateway beside its peers', file: 'bench/main.ts' },
  'bench:ledger': { what: "what the ledger costs: Redis's instructions, or SQLite's CPU time", file: 'bench/ledger.ts' },
  'bench:teams': { what: 'what operators wait for with 100,000 teams', file: 'bench/teams.ts' },
  manual: { what: 'writes the tables that come from the code into the manual', file: 'src/manual.ts' },
  vendors: { what: 'what is new in the packages of vendors whose APIs we serve', file: 'test/vendors/main.ts' },
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
    fail(`there is no task ${name}; the tasks are ${Object.keys(TASKS).join(', ')}`);
  } else if (name !== 'prepare') {
    await prepare(name);
    // As with `npm run NAME -- …`: npm consumes the first `--`.
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
  // What a task starts is the compiled gateway, as users run it.
  if (!isBuilt()) await import('../src/build.ts');
}

/** Runs it in this process, as if Node had been started with the file, with its own signals and exit status. */
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
