// What the numbers were measured on: machine, versions and commit, and how busy the machine was.
import { readFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { isThere, runProgram } from '../../test/support/start-program.ts';
import type { ProgramName } from '../../test/support/programs.ts';

export interface Machine {
  readonly measuredAt: string;
  readonly commit: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly kernel: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Of the last minute, before the first measurement. Above 0.5 other programs were active. */
  readonly loadBefore: number;
}

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PACKAGES = ['@btc-vision/uwebsockets.js', 'uws-pack', 'undici', 'ioredis', 'http-proxy-3', 'fastify', 'autocannon'];

export async function describeMachine(): Promise<Machine> {
  const processors = cpus();
  return {
    measuredAt: new Date().toISOString(),
    commit: await commit(),
    processor: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: release(),
    versions: { node: process.version, ...(await systemVersions()), ...packageVersions() },
    loadBefore: loadavg()[0]!,
  };
}

export function machineLine({ processor, cores, memoryGib, kernel, commit: of, loadBefore }: Machine): string {
  return `${processor}, ${cores} cores, ${memoryGib} GiB, Linux ${kernel}; commit ${of}; load ${loadBefore.toFixed(2)}`;
}

async function commit(): Promise<string> {
  const head = (await output('git', ['-C', ROOT, 'rev-parse', '--short', 'HEAD'])) || 'unknown';
  return (await output('git', ['-C', ROOT, 'status', '--porcelain', '--', 'src'])) === '' ? head : `${head} with changes in src`;
}

async function systemVersions(): Promise<Record<string, string>> {
  return {
    nginx: firstVersion(await output('nginx', ['-v'])),
    haproxy: firstVersion(await output('haproxy', ['-v'])),
    redis: firstVersion(await output('redis-server', ['--version'])),
  };
}

function packageVersions(): Record<string, string> {
  const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
    packages: Record<string, { name?: string; version?: string }>;
  };
  const installed = Object.entries(lock.packages).map(([path, { name, version }]) => ({ name: name ?? nameOf(path), version, path }));
  return Object.fromEntries(
    PACKAGES.map((wanted) => [wanted, installed.find(({ name, path }) => name === wanted && isDirect(path))?.version ?? 'missing']),
  );
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}

function isDirect(path: string): boolean {
  return path.lastIndexOf('node_modules/') === 0;
}

function firstVersion(text: string): string {
  return /\d+\.\d+[\w.+-]*/.exec(text)?.[0] ?? 'missing';
}

/** Some benches do without some of them. */
async function output(program: ProgramName, args: readonly string[]): Promise<string> {
  if (!isThere(program)) return '';
  const { stdout, stderr } = await runProgram(program, args);
  return `${stdout}${stderr}`.trim();
}
