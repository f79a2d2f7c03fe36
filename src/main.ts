// The process: passes the command line on, and ends with its exit status. `lingate.js` has checked its Node.
import process from 'node:process';

silenceExpectedWarnings();
surviveClosedPipes();
// Only now: what it brings along may warn while it is loaded.
const { run } = await import('./cli/run.ts');
const status = await run(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  env: process.env,
  watched: process.stderr.isTTY,
  nowMs: () => Date.now(),
});
// A command that ran well may still have met a bug on the way, and have said so.
if (status !== 0) process.exitCode = status;

/** Of `node:sqlite`, and of plugins in TypeScript inside packages: our tests stand in for both. Every other warning is shown. */
function silenceExpectedWarnings(): void {
  const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void;
  process.emitWarning = (...args: unknown[]): void => {
    const [warning, kind] = args;
    if (kind === 'ExperimentalWarning' && /^(?:SQLite|stripTypeScriptTypes) /.test(String(warning))) return;
    emit(...args);
  };
}

/** A reader that leaves early (`| head -1`) is no failure: the command goes on to its end. */
function surviveClosedPipes(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
