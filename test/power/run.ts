// npm run test:power: plants each bug in a copy of the project and sees whether the tests that should notice it do.
import { spawn } from 'node:child_process';
import process from 'node:process';
import { MUTATIONS } from './mutations.ts';
import type { Mutation, TestRun } from './mutation.ts';
import { Workshop } from './workshop.ts';

const WORKSHOPS = 2;
const RUN_TIMEOUT_MS = 120_000;
const OUTPUT_SHOWN = 2000;

interface Ran {
  readonly passed: boolean;
  readonly output: string;
}

const wanted = process.argv[2];
const mutations = MUTATIONS.filter(({ name }) => wanted === undefined || name.includes(wanted));
const startedAtMs = performance.now();
const faults = [...(await checkUnharmed()), ...(await checkNoticed())];
for (const fault of faults) say(fault);
const seconds = Math.round((performance.now() - startedAtMs) / 1000);
say(`${mutations.length} bugs planted, ${faults.length} faults, ${seconds} s`);
process.exitCode = faults.length === 0 && mutations.length > 0 ? 0 : 1;

/** A test that fails anyway notices nothing. */
async function checkUnharmed(): Promise<string[]> {
  const runs = new Map(mutations.flatMap(({ caughtBy }) => caughtBy).map((run) => [JSON.stringify(run), run]));
  return shareOut([...runs.values()], async (workshop, run) => {
    const { passed, output } = await runTests(workshop, run);
    return passed ? undefined : `${nameOf(run)} fails without any planted bug:\n${output}`;
  });
}

async function checkNoticed(): Promise<string[]> {
  return shareOut(mutations, async (workshop, mutation) => {
    workshop.plant(mutation);
    try {
      return await unnoticed(workshop, mutation);
    } finally {
      workshop.restore();
    }
  });
}

async function unnoticed(workshop: Workshop, { name, caughtBy }: Mutation): Promise<string | undefined> {
  for (const run of caughtBy) {
    const { passed } = await runTests(workshop, run);
    if (passed) return `NOT NOTICED: ${name}, by ${nameOf(run)}`;
  }
  say(`noticed: ${name}`);
  return undefined;
}

/** Each workshop takes the next piece of work when it is done with the one before. */
async function shareOut<T>(work: readonly T[], each: (workshop: Workshop, piece: T) => Promise<string | undefined>): Promise<string[]> {
  const left = [...work];
  const gathered: string[] = [];
  await Promise.all(
    Array.from({ length: WORKSHOPS }, async () => {
      const workshop = new Workshop();
      try {
        for (let piece = left.shift(); piece !== undefined; piece = left.shift()) {
          const found = await each(workshop, piece).catch((error: unknown) => (error instanceof Error ? error.message : 'it threw'));
          if (found !== undefined) gathered.push(found);
        }
      } finally {
        workshop.remove();
      }
    }),
  );
  return gathered;
}

/** A run that matches no test passes nothing: vitest says so by its exit status. */
function runTests(workshop: Workshop, { env, file, names }: TestRun): Promise<Ran> {
  const filter = names === undefined ? [] : ['--testNamePattern', names];
  const args = ['run', '--config', 'test/vitest.config.ts', '--root', '.', '--bail', '1', file, ...filter];
  return new Promise((resolve, reject) => {
    const options = { cwd: workshop.folder, env: { ...process.env, ...env }, timeout: RUN_TIMEOUT_MS };
    const child = spawn('node_modules/.bin/vitest', args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    child.on('error', reject);
    child.on('close', (status) => resolve({ passed: status === 0, output: output.slice(-OUTPUT_SHOWN) }));
  });
}

function nameOf({ file, names }: TestRun): string {
  return names === undefined ? file : `${file} (${names})`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
