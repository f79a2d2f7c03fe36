// Measures two teams: `npm run task -- isolation [--store redis|sqlite] [--per-second N] [--seconds N] [--only WORDS]`, a row per operation.
// `--only documents [--rounds N]`: texts beside documents, in rounds without, with, and with them at another gateway.
import { loadavg } from 'node:os';
import process from 'node:process';
import { parseArgs } from 'node:util';
import { besideDocuments, SITUATIONS } from './beside-documents.ts';
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
  const measured = await besideDocuments({ kind, rounds: Number(values.rounds), seconds: 2, perSecond: 100 });
  process.stdout.write(`${kind}, 100 texts a second; load ${loadavg()[0]!.toFixed(1)}\n`);
  process.stdout.write('| documents | per second | p50 | p99 | median of p99 | answers |\n| - | - | - | - | - | - |\n');
  for (const situation of SITUATIONS) {
    const { p50Ms, p99Ms, roundP99Ms, answers, documentsPerSecond } = measured[situation];
    const shown = (ms: number, aloneMs: number): string => `${ms.toFixed(1)} ms (${(ms / aloneMs).toFixed(2)})`;
    const times = [shown(p50Ms, measured.alone.p50Ms), shown(p99Ms, measured.alone.p99Ms), shown(roundP99Ms, measured.alone.roundP99Ms)];
    process.stdout.write(`| ${situation} | ${documentsPerSecond.toFixed(1)} | ${times.join(' | ')} | ${JSON.stringify(answers)} |\n`);
  }
}
