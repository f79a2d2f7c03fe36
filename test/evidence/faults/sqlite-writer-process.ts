// Starts the program that writes to a SQLite store as fast as it can, and reads which steps it reports as done.
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Operation } from '../../support/history.ts';
import { launch } from '../../support/start-program.ts';
import type { StartOptions } from '../../support/start-program.ts';
import { acknowledgedIn } from './sqlite-copy.ts';
import type { WatchedTeam } from './witness.ts';

const WRITER = fileURLToPath(new URL('sqlite-writer.ts', import.meta.url));

interface Writer {
  readonly child: ChildProcess;
  /** Lines so far. */
  readonly output: readonly string[];
  readonly ended: Promise<unknown>;
}

/** Resolves when it is at work. With `straced`, under strace with these arguments. */
export async function startWriter(path: string, team: WatchedTeam, straced?: readonly string[]): Promise<Writer> {
  const args = ['--no-warnings', WRITER, path, team.teamId, team.keyId];
  const options: StartOptions = { stdio: ['ignore', 'pipe', 'ignore'], uses: ['node'] };
  const program =
    straced === undefined ? launch('node', args, options) : launch('strace', [...straced, process.execPath, ...args], options);
  const output: string[] = [];
  let rest = '';
  program.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop()!;
    output.push(...lines);
  });
  await expect.poll(() => output.length).toBeGreaterThan(10);
  return { child: program.child, output, ended: program.ended };
}

/** The steps that were acknowledged, from its output. */
export function acknowledgements(output: readonly string[]): string[] {
  return output.filter((line) => /^(?:reserved|committed) /.test(line));
}

/** Acknowledged steps that are missing from a journal. */
export function missing(operations: readonly Operation[], output: readonly string[]): string[] {
  const held = acknowledgedIn(operations);
  return acknowledgements(output).filter((line) => !held.has(line));
}
