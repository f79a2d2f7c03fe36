// A fresh root file system of a Debian release, from debootstrap or from what debootstrap made of it earlier on the same day.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { isThere } from '../support/start-program.ts';
import { mustRun, run } from './command.ts';
import { mirrorOf } from './machine-settings.ts';
import type { MachineSettings } from './machine-settings.ts';

/** Debian's releases that the project is for, by their numbers. */
export const RELEASES = { '12': 'bookworm', '13': 'trixie' } as const;

export type Debian = keyof typeof RELEASES;

const LIMIT_MS = 600_000;
const PREFIX = 'lingate-root-';

/** Reused by later runs, outside the project: root file systems of the day, Debian's and npm's packages (both are checked by their digests). */
export function cacheFolder(name: string): string {
  const folder = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'lingate-bare', name);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Why no root file system can be made here, in one line, or `undefined`. */
export async function whyNoRoot(): Promise<string | undefined> {
  if (process.getuid?.() !== 0) return 'a root file system can only be made by root: run this as root or under sudo';
  if (!isThere('apt-get')) return "a root file system is made from Debian's packages, and here is no apt-get";
  const { status, output } = await run('unshare', ['--mount', '--pid', '--fork', 'true'], { limitMs: 20_000, uses: ['true'] });
  return status === 0 ? undefined : `namespaces may not be made here: ${output.trim()}`;
}

/** An empty folder whose name says which process it belongs to, so that a later run can remove what a killed one left. */
export function ownFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const owner = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (owner !== undefined && !existsSync(`/proc/${owner}`)) removeFolder(join(tmpdir(), name));
  }
  return mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
}

/** Nothing is mounted in it: mounts are made in namespaces that end with their processes. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Unpacks a fresh one as `folder`, which must not be there yet. */
export async function makeRoot(debian: Debian, folder: string, settings: MachineSettings): Promise<void> {
  const tarball = await rootTarball(debian, settings);
  mkdirSync(folder, { mode: 0o755 });
  await mustRun('tar', ['-C', folder, '-xf', tarball], { limitMs: LIMIT_MS });
}

/** Path of the release's root file system as a tar file, of today; nothing of this machine is in it but the name of its mirror. */
export async function rootTarball(debian: Debian, settings: MachineSettings): Promise<string> {
  const release = RELEASES[debian];
  const mirror = mirrorOf(settings);
  const command = ['--variant=minbase', release];
  const cache = cacheFolder('roots');
  const day = new Date().toISOString().slice(0, 10);
  const key = createHash('sha256')
    .update([...command, mirror, process.arch].join(' '))
    .digest('hex')
    .slice(0, 12);
  const tarball = join(cache, `${release}-${day}-${key}.tar`);
  if (existsSync(tarball)) return tarball;
  for (const name of readdirSync(cache)) if (name.startsWith(`${release}-`) && !name.includes(day)) rmSync(join(cache, name));
  const folder = ownFolder();
  try {
    const root = join(folder, 'root');
    // It mounts /proc in there, which would outlive a run that is killed.
    const bootstrap = ['debootstrap', ...command, root, ...(mirror === undefined ? [] : [mirror])];
    await mustRun('unshare', ['--mount', ...bootstrap], { limitMs: LIMIT_MS, uses: ['debootstrap'] });
    for (const ofMachine of ['etc/hostname', 'etc/resolv.conf']) rmSync(join(root, ofMachine), { force: true });
    // Whole or not at all: a run that is killed leaves no half of it under this name.
    const made = `${tarball}.${process.pid}`;
    await mustRun('tar', ['-C', root, '-cf', made, '.'], { limitMs: LIMIT_MS });
    renameSync(made, tarball);
  } finally {
    removeFolder(folder);
  }
  return tarball;
}
