// What is new in vendors' own descriptions of their APIs: `npm run task -- vendors`. Run it after an update of their packages.
import { OPERATIONS } from '../../src/manual.ts';
import { readInstalled, vendorSources, whatIsNew } from './vendor-check.ts';

const lines = whatIsNew(vendorSources(OPERATIONS), readInstalled);
process.stdout.write(lines.length === 0 ? 'nothing new\n' : `${lines.join('\n')}\n`);
