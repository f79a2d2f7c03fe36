#!/usr/bin/env node
// The process: checks its Node, passes the command line on, and ends with its exit status.
import process from 'node:process';

/** As `engines` in package.json says. */
const NODE_MIN = [22, 22, 2] as const;

if (nodeIsOlder()) {
  process.stderr.write(`lingate: needs Node ${NODE_MIN.join('.')} or newer, and this is ${process.versions.node}; install a newer one.\n`);
  process.exitCode = 1;
} else {
  silenceSqliteWarning();
  surviveClosedPipes();
  // Imported only now: on an older Node the import itself would fail, and less clearly.
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
}

function nodeIsOlder(): boolean {
  const parts = process.versions.node.split('.').map(Number);
  for (const [index, least] of NODE_MIN.entries()) {
    const part = parts[index] ?? 0;
    if (part !== least) return part < least;
  }
  return false;
}

/** The one warning about `node:sqlite`, which our tests stand in for; every other warning is shown. */
function silenceSqliteWarning(): void {
  const emit = process.emitWarning.bind(process) as (...args: unknown[]) => void;
  process.emitWarning = (...args: unknown[]): void => {
    const [warning, kind] = args;
    if (kind === 'ExperimentalWarning' && String(warning).startsWith('SQLite ')) return;
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
