// Sees to it that what an npm script starts is on this machine: `node test/prepare.ts SCRIPT`.
import { ensureInstalled } from './support/debian-packages.ts';
import { commandNamed, COMMANDS, needsOf } from './support/programs.ts';

const command = commandNamed(process.argv[2]);
if (command === undefined) {
  process.stderr.write(`prepare: name one of these npm scripts: ${COMMANDS.join(', ')}\n`);
  process.exit(2);
}
await ensureInstalled(needsOf(command));
