// The machine: which core is whose, programs pinned to their cores, what they have used, and what the figures were measured on.
import type { ChildProcess, StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../test/support/free-port.ts';
import type { ProgramName } from '../test/support/programs.ts';
import { fileOf, isThere, launch, runProgram } from '../test/support/start-program.ts';
import type { Startable } from '../test/support/start-program.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LISTENING_MS = 20_000;
const STOP_MS = 5000;
const PACKAGES = ['@btc-vision/uwebsockets.js', 'undici', 'ioredis', 'http-proxy-3', 'fastify', 'autocannon'];

/** In the notation of taskset. */
export interface Cores {
  readonly gateway: string;
  /** Of engine, Redis and load. */
  readonly others: string;
}

/** Throws if there is no spare core: gateway and load on one core would measure each other. */
export async function chooseCores(): Promise<Cores> {
  const count = availableParallelism();
  if (count < 2) throw new Error(`the bench needs two cores or more; this machine has ${count}`);
  if ((await runProgram('taskset', ['-c', '0', 'true'], { uses: ['true'] })).status !== 0) {
    throw new Error('taskset cannot pin a program to core 0: run where core 0 is allowed');
  }
  return { gateway: '0', others: count === 2 ? '1' : `1-${count - 1}` };
}

export interface Program {
  readonly port: number;
  readonly pid: number;
  readonly stop: () => Promise<void>;
}

interface ProgramOptions {
  readonly cores: string;
  /** Or what its output says once it listens, with the port as the first group. */
  readonly port: number | RegExp;
  readonly folder: string;
  /** Names its output file, and appears in messages. */
  readonly name: string;
}

/** Output goes to a file: the cost of an access log is part of the measurement. */
export async function startPinned(program: Startable, args: readonly string[], options: ProgramOptions): Promise<Program> {
  const { cores, port, folder, name } = options;
  const log = join(folder, `${name}-${Date.now()}.log`);
  const written = openSync(log, 'a');
  const stdio: StdioOptions = ['ignore', written, written];
  const env = { PATH: process.env['PATH'] ?? '/usr/bin:/bin' };
  const { child } = launch('taskset', ['-c', cores, fileOf(program), ...args], { stdio, env, cwd: folder, uses: [program] });
  closeSync(written);
  const said = (): string => readFileSync(log, 'utf8');
  const listening = async (): Promise<number | undefined> => {
    if (typeof port === 'number') return (await accepts(port)) ? port : undefined;
    const found = port.exec(said())?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const endMs = performance.now() + LISTENING_MS;
  for (;;) {
    const found = await listening();
    if (found !== undefined) return { port: found, pid: child.pid!, stop: () => stop(child) };
    if (child.exitCode !== null || child.signalCode !== null || performance.now() > endMs) {
      await stop(child);
      throw new Error(`${name} did not listen; it said: ${said().slice(-600).trim()}`);
    }
    await pause(20);
  }
}

/** A program of the bench's own, from `bench/servers`. */
export async function startServer(
  file: string,
  cores: string,
  folder: string,
  numbers: Readonly<Record<string, number>>,
): Promise<Program> {
  const port = await freePort();
  const args = Object.entries({ ...numbers, port }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  return startPinned('node', [join(ROOT, 'bench/servers', file), ...args], { cores, port, folder, name: file });
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (is: boolean): void => {
      socket.destroy();
      resolve(is);
    };
    socket.once('connect', () => answer(true)).once('error', () => answer(false));
  });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const hard = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(hard);
}

/** What a process and its descendants have used since they started, by the scheduler's own count. */
interface Usage {
  readonly cpuUs: number;
  /** Ready to run while another process had the core: the sign of a busy machine. */
  readonly waitedUs: number;
}

export function usageOf(root: number): Usage {
  let [cpuNs, waitedNs] = [0, 0];
  for (const pid of processTree(root)) {
    for (const thread of entries(`/proc/${pid}/task`)) {
      const [onCore, waited] = text(`/proc/${pid}/task/${thread}/schedstat`).split(' ');
      cpuNs += Number(onCore ?? 0);
      waitedNs += Number(waited ?? 0);
    }
  }
  return { cpuUs: cpuNs / 1000, waitedUs: waitedNs / 1000 };
}

/** `VmHWM` is the peak, `VmRSS` the current value. */
export function memoryMib(root: number, field: 'VmHWM' | 'VmRSS'): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm');
  return processTree(root).reduce((sum, pid) => sum + Number(line.exec(text(`/proc/${pid}/status`))?.[1] ?? 0), 0) / 1024;
}

/** What the hypervisor has taken from this machine for others. */
export function stolenUs(): number {
  return Number(text('/proc/stat').split('\n')[0]!.split(/\s+/)[8] ?? 0) * 10_000;
}

function processTree(root: number): number[] {
  const tree = [root];
  for (let i = 0; i < tree.length; i++) {
    for (const thread of entries(`/proc/${tree[i]}/task`)) {
      tree.push(...text(`/proc/${tree[i]}/task/${thread}/children`).split(' ').filter(Boolean).map(Number));
    }
  }
  return tree;
}

/** A process that has ended meanwhile counts as nothing. */
function text(file: string): string {
  try {
    return readFileSync(file, 'latin1').trim();
  } catch {
    return '';
  }
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export interface Machine {
  readonly measuredAt: string;
  readonly commit: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  /** Of the last minute, before the first measurement. Above 0.5 other programs were active. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string>>;
}

export async function describeMachine(): Promise<Machine> {
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    commit: await commit(),
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    loadBefore: loadavg()[0]!,
    versions: { node: process.version, ...(await systemVersions()), ...packageVersions() },
  };
}

export function machineLine({ processor, cores, memoryGib, kernel, commit: of, loadBefore, measuredAt }: Machine): string {
  const day = measuredAt.slice(0, 10);
  return `${day}, commit ${of}, ${processor}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}, load before ${loadBefore.toFixed(2)}`;
}

async function commit(): Promise<string> {
  const head = (await output('git', ['-C', ROOT, 'rev-parse', '--short', 'HEAD'])) || 'unknown';
  return (await output('git', ['-C', ROOT, 'status', '--porcelain', '--', 'src'])) === '' ? head : `${head} with changes in src`;
}

async function systemVersions(): Promise<Record<string, string>> {
  const version = (said: string): string => /\d+\.\d+[\w.+-]*/.exec(said)?.[0] ?? 'missing';
  return {
    nginx: version(await output('nginx', ['-v'])),
    haproxy: version(await output('haproxy', ['-v'])),
    redis: version(await output('redis-server', ['--version'])),
  };
}

function packageVersions(): Record<string, string> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as { packages: Record<string, { version?: string }> };
  return Object.fromEntries(PACKAGES.map((name) => [name, lock.packages[`node_modules/${name}`]?.version ?? 'missing']));
}

/** Some benches do without some of them. */
async function output(program: ProgramName, args: readonly string[]): Promise<string> {
  if (!isThere(program)) return '';
  const { stdout, stderr } = await runProgram(program, args);
  return `${stdout}${stderr}`.trim();
}
