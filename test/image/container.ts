// Runs what an image is for as an engine does: as its user, in its folder, with its variables, as the first process.
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { atEnd, expectPassed } from '../bare/command.ts';
import type { Running } from '../bare/command.ts';
import { enter } from '../bare/enter.ts';
import type { ImageConfig } from './buildah.ts';

/** What `docker stop` allows. */
const STOP_MS = 10_000;
const RUN_MS = 60_000;

export interface Container {
  /** A folder: the container's root file system. */
  readonly root: string;
  readonly config: ImageConfig;
}

/** Starts the image's entry with these arguments; by default its own. */
export function startContainer({ root, config }: Container, args: readonly string[] = config.Cmd): Running {
  return begin(root, config, [...config.Entrypoint, ...args]);
}

/** Runs the image's entry to its end: what it printed; throws unless that is status 0. */
export async function runContainer({ root, config }: Container, args: readonly string[]): Promise<string> {
  return expectPassed(args.join(' '), await atEnd(begin(root, config, [...config.Entrypoint, ...args])));
}

/** Runs any program of the image as its user, as `docker exec` does. */
export async function execInside({ root, config }: Container, program: readonly string[]): Promise<string> {
  return expectPassed(program.join(' '), await atEnd(begin(root, config, program)));
}

/** SIGTERM to the first process, as an engine stops a container. Throws unless it ends in time with status 0. */
export async function stopContainer(running: Running): Promise<number> {
  const startMs = performance.now();
  const limit = setTimeout(() => running.kill(`did not end within ${STOP_MS / 1000} s of SIGTERM`), STOP_MS);
  process.kill(firstProcess(running.program.pid), 'SIGTERM');
  expectPassed('SIGTERM', await running.ended);
  clearTimeout(limit);
  return performance.now() - startMs;
}

function begin(root: string, { User, WorkingDir, Env }: ImageConfig, program: readonly string[]): Running {
  const variables = Env.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const);
  // A user who is in no list of users has no home.
  const env = { HOME: '/', ...Object.fromEntries(variables) };
  return enter(root, program, { limitMs: RUN_MS, user: User, cwd: WorkingDir, env });
}

/** The only child of the process that made the namespaces. */
function firstProcess(parent: number): number {
  return Number(readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim());
}
