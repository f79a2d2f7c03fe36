// The package as users get it: packed here, installed with npm into an empty project elsewhere.
import { mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { outputOf } from '../support/start-program.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const LIMIT_MS = 240_000;

declare module 'vitest' {
  interface ProvidedContext {
    tarball: string;
    project: Project;
  }
}

interface Project {
  readonly folder: string;
  /** Paths inside the package, as in the tarball. */
  readonly packed: readonly string[];
  /** What `npx lingate` starts. */
  readonly lingate: string;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Outside this checkout, so that nothing of it is ever found by accident. */
export function emptyFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'lingate-package-')));
}

/** Packs this checkout into the folder. */
export async function pack(folder: string): Promise<Pick<Project, 'packed'> & { readonly tarball: string }> {
  const printed = await npm(['pack', '--json', '--pack-destination', folder], ROOT);
  const [packed] = Object.values(JSON.parse(printed.slice(printed.search(/^[[{]/m))) as Record<string, Packed>);
  return { tarball: join(folder, packed!.filename), packed: packed!.files.map(({ path }) => path) };
}

/** Installs the tarball into a project of its own, in an empty folder. */
export async function install(tarball: string, folder: string): Promise<Omit<Project, 'packed'>> {
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'a-project', private: true, type: 'module' }));
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', tarball], folder);
  return { folder, lingate: join(folder, 'node_modules/.bin/lingate') };
}

/** With the Node of these tests first in the PATH, as in a project that has it; without the variables that npm sets for scripts. */
export function npmEnv(): NodeJS.ProcessEnv {
  const own = Object.entries(process.env).filter(([name]) => !/^npm_(?:lifecycle|package|command|execpath|node_execpath)/.test(name));
  return { ...Object.fromEntries(own), PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };
}

function npm(args: readonly string[], cwd: string): Promise<string> {
  return outputOf('npm', args, { cwd, env: npmEnv(), msMax: LIMIT_MS });
}

/** Files by their path below the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
