// Runs the command line as people do: a process of its own, in a folder of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { run } from '../../src/cli/run.ts';

export interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Surroundings {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Node's own flags. */
  readonly nodeArgs?: readonly string[];
}

export const MAIN = fileURLToPath(new URL('../../src/lingate.js', import.meta.url));

/** Started with a bare environment: no variable of the machine's reaches it. */
export function start(args: readonly string[], { cwd, env = {}, nodeArgs = [] }: Surroundings = {}) {
  const child = spawn(process.execPath, [...nodeArgs, MAIN, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return child;
}

export async function lingate(args: readonly string[], surroundings: Surroundings = {}): Promise<Ended> {
  const child = start(args, surroundings);
  const ended = once(child, 'close') as Promise<[status: number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { status, stdout, stderr };
}

/** The same without a process: for tables of cases, and where only the effect on a store matters. */
export async function inProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  let stdout = '';
  let stderr = '';
  const status = await run(args, {
    out: (part) => void (stdout += part),
    err: (part) => void (stderr += part),
    env,
    watched: false,
    nowMs: () => Date.now(),
  });
  return { status, stdout, stderr };
}

/** What a command printed with --json; fails the test when it did not succeed in silence. */
export function parsed({ status, stdout, stderr }: Ended): unknown {
  if (status !== 0 || stderr !== '') throw new Error(`status ${status}: ${stderr}`);
  return JSON.parse(stdout);
}

export interface Folder {
  readonly path: string;
  remove(): void;
}

export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'lingate-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
