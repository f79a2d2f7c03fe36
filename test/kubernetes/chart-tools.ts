// Helm, kubectl, schemas of Kubernetes and the linter of workflows, as npm packages by a lock file of their own: installed once, outside the project.
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../bare/root-file-system.ts';
import { outputOf, runProgram } from '../support/start-program.ts';
import type { Ended, StartOptions } from '../support/start-program.ts';

const FILES = ['package.json', 'package-lock.json', 'load.js'] as const;
const OWN = fileURLToPath(new URL('tools/', import.meta.url));
const INSTALL_MS = 300_000;
const WAIT_MS = 100;

const CONFIG = fileURLToPath(new URL('../../config/', import.meta.url));
/** The chart. */
export const CHART = join(CONFIG, 'helm/lingate');

/** A copy of the chart in a folder, with the files that the release workflow puts into it; returns its path. */
export function chartOfRelease(folder: string): string {
  const chart = join(folder, 'chart');
  cpSync(CHART, chart, { recursive: true });
  mkdirSync(join(chart, 'files'), { recursive: true });
  for (const name of ['alerts.yaml', 'grafana-dashboard.json']) copyFileSync(join(CONFIG, name), join(chart, 'files', name));
  return chart;
}

export interface ChartTools {
  /** A folder with `node_modules`. */
  readonly folder: string;
  helm(args: readonly string[], options?: StartOptions): Promise<Ended>;
  kubectl(args: readonly string[], options?: StartOptions): Promise<Ended>;
}

/** Installs them if need be. Rejects on machines that are not amd64: the package with helm has no other. */
export async function chartTools(): Promise<ChartTools> {
  if (process.arch !== 'x64') throw new Error(`helm and kubectl are there for amd64 only, and this is ${process.arch}`);
  const digest = createHash('sha256');
  for (const manifest of FILES) digest.update(readFileSync(join(OWN, manifest)));
  const folder = join(cacheFolder('chart-tools'), digest.digest('hex').slice(0, 12));
  if (!existsSync(folder)) await installOnce(folder);
  const env = { ...process.env, PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}` };
  const start =
    (name: 'helm' | 'kubectl') =>
    (args: readonly string[], options: StartOptions = {}): Promise<Ended> =>
      runProgram(name, args, { ...options, env: { ...env, ...options.env } });
  return { folder, helm: start('helm'), kubectl: start('kubectl') };
}

/** By one of several test files that begin at once; the others wait for it. A lock that is older than an install may take is nobody's. */
async function installOnce(folder: string): Promise<void> {
  const lock = `${folder}.lock`;
  while (!existsSync(folder)) {
    if (isOutdated(lock)) rmSync(lock, { recursive: true, force: true });
    try {
      mkdirSync(lock);
    } catch {
      await setTimeout(WAIT_MS);
      continue;
    }
    try {
      if (!existsSync(folder)) await install(folder);
    } finally {
      rmSync(lock, { recursive: true, force: true });
    }
  }
}

function isOutdated(lock: string): boolean {
  const madeMs = statSync(lock, { throwIfNoEntry: false })?.mtimeMs;
  return madeMs !== undefined && Date.now() - madeMs > INSTALL_MS;
}

/** Whole or not at all: under another name first. */
async function install(folder: string): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  mkdirSync(draft, { recursive: true });
  for (const manifest of FILES) copyFileSync(join(OWN, manifest), join(draft, manifest));
  // Peers of the layer are AWS's own libraries, a hundred times its size, which nothing here loads.
  const flags = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund'];
  await outputOf('npm', ['ci', ...flags, '--prefix', draft], { cwd: draft, msMax: INSTALL_MS });
  const layer = join(draft, 'node_modules/helm-and-kubectl/lib/layer.zip');
  await outputOf('unzip', ['-q', '-j', layer, 'helm/helm', 'kubectl/kubectl', '-d', join(draft, 'bin')]);
  for (const name of ['helm', 'kubectl']) chmodSync(join(draft, 'bin', name), 0o755);
  rmSync(layer);
  renameSync(draft, folder);
}
