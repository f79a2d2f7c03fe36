// npm run simulate: runs many seeds, or one with a trace of everything that happens in it.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { runSeed } from './run.ts';

const USAGE = 'npm run task -- simulate [--seeds N] [--from SEED] | --seed SEED';
const FAILURES_MAX = 10;
const PROGRESS_EVERY = 1000;

const { seeds, from, seed } = readArguments();
process.exitCode = seed === undefined ? await runMany(from, seeds) : await runOne(seed);

async function runMany(first: number, count: number): Promise<number> {
  const startedAtMs = performance.now();
  let requests = 0;
  let failed = 0;
  for (let done = 1; done <= count && failed < FAILURES_MAX; done++) {
    const next = first + done - 1;
    const result = await runSeed(next);
    requests += result.requests;
    if (result.violations.length > 0) {
      failed++;
      say(`seed ${next}: ${result.violations[0]}\n  replay: npm run task -- simulate --seed ${next}`);
    }
    if (done % PROGRESS_EVERY === 0 || done === count || failed === FAILURES_MAX) {
      const minutes = (performance.now() - startedAtMs) / 60_000;
      say(`${done} seeds, ${requests} requests, ${failed} failed, ${Math.round(done / minutes)} seeds a minute`);
    }
  }
  return failed === 0 ? 0 : 1;
}

async function runOne(only: number): Promise<number> {
  const { fingerprint, trace, violations } = await runSeed(only, { keepsTrace: true });
  process.stdout.write(trace);
  say(`seed ${only}: fingerprint ${fingerprint}`);
  for (const violation of violations) say(violation);
  return violations.length === 0 ? 0 : 1;
}

function readArguments(): { seeds: number; from: number; seed: number | undefined } {
  try {
    const text = { type: 'string' } as const;
    const { values } = parseArgs({ options: { seeds: text, from: text, seed: text } });
    return {
      seeds: whole(values.seeds, 10_000),
      from: whole(values.from, 1),
      seed: values.seed === undefined ? undefined : whole(values.seed, 0),
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'wrong usage'}\nUsage: ${USAGE}\n`);
    process.exit(2);
  }
}

function whole(value: string | undefined, fallback: number): number {
  const number = value === undefined ? fallback : Number(value);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`${value} is no whole number`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
