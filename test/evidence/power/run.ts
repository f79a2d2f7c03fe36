// npm run task -- test:power [WORDS] [--share 3/8]: plants each bug in a copy of the project and checks that the named tests fail.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { report } from '../scorecard/report.ts';
import { MUTATIONS } from './mutations.ts';
import type { Mutation } from './mutation.ts';
import { CONTROL_VARIABLE, nameOf, runTests } from './test-runner.ts';
import { Workshop } from './workshop.ts';

const WORKSHOPS = 2;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { share: { type: 'string', default: '1/1' } } });
const [share, shares] = /^([1-9]\d*)\/([1-9]\d*)$/.exec(values.share)?.slice(1).map(Number) ?? [];
if (share === undefined || shares === undefined || share > shares)
  throw new Error(`--share ${values.share}: one of 1/8 to 8/8, for example`);
// Neighbours of the table are of one kind: a share has some of each.
const mutations = MUTATIONS.filter(({ name }) => name.includes(positionals[0] ?? '')).filter((_, index) => index % shares === share - 1);
const startedAtMs = performance.now();
const workshops = Array.from({ length: WORKSHOPS }, () => new Workshop());
try {
  process.exitCode = await plantAll();
} finally {
  for (const workshop of workshops) workshop.remove();
}

async function plantAll(): Promise<number> {
  const stale = mutations.filter((mutation) => workshops[0]!.anchors.faultsOf(mutation).map(say).length > 0);
  const harmed = await shareOut(runsOf(mutations), async (workshop, run) => {
    const { kind, output } = await runTests(workshop, { ...run, env: { ...run.env, [CONTROL_VARIABLE]: 'on' } });
    return kind === 'passed' || say(`CONTROL FAILED: ${nameOf(run)} is ${kind} without any planted bug:\n${output}`);
  });
  const caught = await shareOut(
    mutations.filter((mutation) => !stale.includes(mutation)),
    catches,
  );
  const number = caught.filter(Boolean).length;
  say(`${Math.round((performance.now() - startedAtMs) / 1000)} s`);
  say(`${number} of ${mutations.length} planted bugs caught`);
  const met = number === mutations.length && number > 0 && harmed.every(Boolean);
  const measured = `${number} of ${mutations.length} caught, each by every test that is to notice it`;
  report({ row: 11, figure: 'bugs planted in a copy of the sources', measured, met });
  return met ? 0 : 1;
}

/** A test that always fails catches nothing, so each is first run on the unchanged sources. */
function runsOf(planted: readonly Mutation[]) {
  return [...new Map(planted.flatMap(({ caughtBy }) => caughtBy).map((run) => [JSON.stringify(run), run])).values()];
}

/** Only a test that failed has caught a bug; each that is named must. */
async function catches(workshop: Workshop, mutation: Mutation): Promise<boolean> {
  const { name, caughtBy } = mutation;
  const startMs = performance.now();
  workshop.plant(mutation);
  try {
    for (const run of caughtBy) {
      const { kind, output } = await runTests(workshop, run);
      if (kind === 'passed') return say(`ESCAPED: ${name}, by ${nameOf(run)}`);
      if (kind === 'broken') return say(`NOTHING TESTED: ${name}, by ${nameOf(run)}:\n${output}`);
    }
  } finally {
    workshop.restore();
  }
  say(`caught in ${((performance.now() - startMs) / 1000).toFixed(1)} s: ${name}`);
  return true;
}

/** Each workshop takes the next piece of work when it has finished the previous one. */
async function shareOut<T>(work: readonly T[], each: (workshop: Workshop, piece: T) => Promise<boolean>): Promise<boolean[]> {
  const left = [...work];
  const gathered: boolean[] = [];
  await Promise.all(
    workshops.map(async (workshop) => {
      for (let piece = left.shift(); piece !== undefined; piece = left.shift()) gathered.push(await each(workshop, piece));
    }),
  );
  return gathered;
}

/** Returns `false`, for callers that report a failure. */
function say(line: string): false {
  process.stdout.write(`${line}\n`);
  return false;
}
