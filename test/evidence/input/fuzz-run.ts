// `npm run task -- fuzz [--seconds N] [--seed S] [--listener uws|node] [--case N]`: for any duration, both listeners by default.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';
import { LISTENERS } from '../../support/listeners.ts';

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    listener: { type: 'string' },
    case: { type: 'string' },
  },
});
const only = values.case === undefined ? {} : { onlyCase: Number(values.case) };
const listeners = LISTENERS.filter((name) => values.listener === undefined || values.listener === name);

let found = 0;
for (const listener of listeners) {
  const report = await fuzz({ listener, seed: Number(values.seed), seconds: Number(values.seconds), ...only });
  process.stdout.write(`${listener}, seed ${values.seed}: ${report.cases} cases, answers ${JSON.stringify(report.answers)}\n`);
  for (const find of report.finds) process.stdout.write(`  ${find}\n`);
  found += report.finds.length;
}
process.stdout.write(found === 0 ? 'nothing found\n' : `${found} finds\n`);
process.exitCode = found === 0 ? 0 : 1;
