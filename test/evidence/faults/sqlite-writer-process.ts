// Starts the program that writes to a SQLite store as fast as it can, and listens to what it says is done.
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Operation } from '../../support/history.ts';
import { launch } from '../../support/start-program.ts';
import type { StartOptions } from '../../support/start-program.ts';
import { acknowledgedIn } from './sqlite-copy.ts';
import type { WatchedTeam } from './witness.ts';

const WRITER = fileURLToPath(new URL('sqlite-writer.ts', import.meta.url));

export interface Writer {
  readonly child: ChildProcess;
  /** Lines so far. */
  readonly said: readonly string[];
  readonly ended: Promise<unknown>;
}

/** Resolves when it is at work. With `straced`, under strace with these arguments. */
export async function startWriter(path: string, team: WatchedTeam, straced?: readonly string[]): Promise<Writer> {
  const args = ['--no-warnings', WRITER, path, team.teamId, team.keyId];
  const options: StartOptions = { stdio: ['ignore', 'pipe', 'ignore'], uses: ['node'] };
  const program =
    straced === undefined ? launch('node', args, options) : launch('strace', [...straced, process.execPath, ...args], options);
  const said: string[] = [];
  let rest = '';
  program.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop()!;
    said.push(...lines);
  });
  await expect.poll(() => said.length).toBeGreaterThan(10);
  return { child: program.child, said, ended: program.ended };
}

/** Of what it said, the steps that it was told are done. */
export function acknowledgements(said: readonly string[]): string[] {
  return said.filter((line) => /^(?:reserved|committed) /.test(line));
}

/** Acknowledged steps that a journal does not hold. */
export function missing(operations: readonly Operation[], said: readonly string[]): string[] {
  const held = acknowledgedIn(operations);
  return acknowledgements(said).filter((line) => !held.has(line));
}
