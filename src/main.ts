// The process: runs the command line, exits with its status. `lingate.js` checked Node's version.
import { run } from './cli/run.ts';

let abandoned = false;
surviveFailedOutput();
const status = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  watched: process.stderr.isTTY,
  shown: process.stdout.isTTY,
  asks: process.stdin.isTTY,
  abandoned: () => abandoned,
  secret: async (prompt) => {
    const { readSecret } = await import('./cli/secret-input.ts');
    return readSecret(process.stdin, (text) => process.stderr.write(text), prompt);
  },
  line: async (prompt) => {
    if (!process.stdin.isTTY) return undefined;
    const { createInterface } = await import('node:readline/promises');
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return (await terminal.question(prompt)).trim();
    } finally {
      terminal.close();
    }
  },
  nowMs: () => Date.now(),
});
// An earlier status, set for a bug, is not overwritten by 0.
if (status !== 0) process.exitCode = status;

/**
 * A reader that closes early (`| head -1`) is no failure: the command runs on, or stops if it only
 * writes. A full disk ends no gateway, but fails a command.
 */
function surviveFailedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (stream === process.stdout && !abandoned && error.code !== 'EPIPE' && error.code !== 'ECONNRESET') {
        process.exitCode = 1;
        process.stderr.write(`lingate: standard output cannot be written: ${error.message}\n`);
      }
      abandoned ||= stream === process.stdout;
    });
  }
}
