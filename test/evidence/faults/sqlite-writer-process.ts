// Starts the program that writes to a SQLite store as fast as it can, and reads which steps it reports as done.
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { launch } from '../../support/start-program.ts';
import type { StartOptions } from '../../support/start-program.ts';
import type { Acknowledged } from './sqlite-copy.ts';
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

/** What it has printed: each reservation is to be committed as soon as it is acknowledged. */
export function acknowledgedBy(output: readonly string[], teamId: string): Acknowledged[] {
  const ended = new Set(output.flatMap((line) => /^committed (.+)$/.exec(line)?.[1] ?? []));
  const reserved = output.flatMap((line) => /^reserved (.+)$/.exec(line)?.[1] ?? []);
  return reserved.map((requestId) => ({ teamId, requestId, characters: 3, asked: 'commit', isEnded: ended.has(requestId) }));
}
