// Measures two teams: `npm run task -- isolation [--store redis|sqlite] [--per-second N] [--seconds N] [--only WORDS]`, a row per operation.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { startNeighbours } from './neighbours.ts';
import type { Quiet } from './neighbours.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string', default: 'redis' },
    'per-second': { type: 'string', default: '5' },
    seconds: { type: 'string', default: '6' },
    only: { type: 'string', default: '' },
  },
});
const [perSecond, seconds] = [Number(values['per-second']), Number(values.seconds)];

function row(name: string, beside: Quiet, alone: Quiet): string {
  const failed = Object.entries(beside.answers).filter(([word]) => word !== '200 ok');
  const told = (counts: Iterable<readonly [string, number]>) => [...counts].map(([word, count]) => `${count} ${word}`).join(', ');
  const times = ({ p50Ms, p99Ms }: Quiet) => `${p50Ms.toFixed(1)}, ${p99Ms.toFixed(1)}`;
  return `| ${name} | ${times(alone)} | ${times(beside)} | ${told(failed) || '0'} | ${told(Object.entries(beside.noisy))} |\n`;
}

const neighbours = await startNeighbours(values.store === 'sqlite' ? 'sqlite' : 'redis', perSecond);
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
