// Starts the program that writes to a SQLite store as fast as it can, and listens to what it says is done.
import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Operation } from '../../support/history.ts';
import { acknowledgedIn } from './sqlite-copy.ts';
import type { WatchedTeam } from './witness.ts';

const WRITER = fileURLToPath(new URL('sqlite-writer.ts', import.meta.url));

export interface Writer {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  /** Lines so far. */
  readonly said: readonly string[];
  readonly ended: Promise<unknown>;
}

/** Resolves when it is at work. `wrapper` is a program that starts it, such as strace. */
export async function startWriter(path: string, team: WatchedTeam, wrapper: readonly string[] = []): Promise<Writer> {
  const [program, ...args] = [...wrapper, process.execPath, '--no-warnings', WRITER, path, team.teamId, team.keyId];
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const said: string[] = [];
  let rest = '';
  child.stdout.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop()!;
    said.push(...lines);
  });
  const ended = once(child, 'close');
  await expect.poll(() => said.length).toBeGreaterThan(10);
  return { child, said, ended };
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
