// Measures two teams: `npm run task -- isolation [--store redis|sqlite] [--per-second N] [--seconds N] [--only WORDS]`, a row per operation.
// `--only documents [--rounds N]`: texts beside documents, in rounds with and without.
import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { besideDocuments } from './beside-documents.ts';
import type { Times } from './beside-documents.ts';
import { startNeighbours } from './neighbours.ts';
import type { Quiet } from './neighbours.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    'per-second': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '20' },
  },
});
const kind = values.store === 'sqlite' ? 'sqlite' : 'redis';
const [perSecond, seconds] = [Number(values['per-second']), Number(values.seconds)];

function row(name: string, beside: Quiet, alone: Quiet): string {
  const failed = Object.entries(beside.answers).filter(([word]) => word !== '200 ok');
  const told = (counts: Iterable<readonly [string, number]>) => [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  const times = ({ p50Ms, p99Ms }: Quiet) => `${p50Ms.toFixed(1)}, ${p99Ms.toFixed(1)}`;
  return `| ${name} | ${times(alone)} | ${times(beside)} | ${told(failed) || '0'} | ${told(Object.entries(beside.noisy))} |\n`;
}

if (values.only === 'documents') await measureDocuments();
else await measureOperations();

async function measureOperations(): Promise<void> {
  const neighbours = await startNeighbours(kind, perSecond);
  try {
    process.stdout.write(
      `${values.store}, ${perSecond} a second\n| operation | alone, p50, p99 ms | beside it, p50, p99 ms | failed | its own answers |\n| - | - | - | - | - |\n`,
    );
    for (const operation of neighbours.operations.filter(({ name }) => name.includes(values.only))) {
      // Each has its own, because other work on the machine comes and goes.
      const alone = await neighbours.measure(undefined, seconds);
      process.stdout.write(row(operation.name, await neighbours.measure(operation, seconds), alone));
    }
  } finally {
    await neighbours.stop();
  }
}

/** Rounds are short: what else is on the machine comes and goes. */
async function measureDocuments(): Promise<void> {
  const { alone, beside, documentsPerSecond } = await besideDocuments({ kind, rounds: Number(values.rounds), seconds: 2, perSecond: 100 });
  const shown = ({ p50Ms, p99Ms, answers }: Times): string =>
    `p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms, ${JSON.stringify(answers)}`;
  process.stdout.write(
    `${kind}, 100 texts a second\nalone: ${shown(alone)}\nbeside ${documentsPerSecond.toFixed(1)} documents a second: ${shown(beside)}\n` +
      `ratio: p50 ${(beside.p50Ms / alone.p50Ms).toFixed(2)}, p99 ${(beside.p99Ms / alone.p99Ms).toFixed(2)}; load ${loadavg()[0]!.toFixed(1)}\n`,
  );
}
