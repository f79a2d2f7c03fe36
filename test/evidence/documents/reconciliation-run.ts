// `npm run task -- documents [--store sqlite|redis] [--documents N] [--kills N]`: both stores by default, 2,000 documents and 100 kills.
import process from 'node:process';
import { parseArgs } from 'node:util';
import { reconcileDocuments } from './reconciliation.ts';

const { values } = parseArgs({
  options: {
    store: { type: 'string' },
    documents: { type: 'string', default: '2000' },
    kills: { type: 'string', default: '100' },
  },
});
let found = 0;
for (const kind of ['sqlite', 'redis'] as const) {
  if (values.store !== undefined && values.store !== kind) continue;
  const { wrong, ...figures } = await reconcileDocuments({
    kind,
    documents: Number(values.documents),
    kills: Number(values.kills),
    parallel: 100,
    teams: 20,
  });
  process.stdout.write(`${kind}: ${JSON.stringify(figures)}\n`);
  for (const what of wrong.slice(0, 100)) process.stdout.write(`  ${what}\n`);
  found += wrong.length;
}
process.stdout.write(found === 0 ? 'nothing wrong\n' : `${found} wrong\n`);
process.exitCode = found === 0 ? 0 : 1;
