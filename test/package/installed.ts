// The package as strangers have it: packed here, installed with npm into an empty project elsewhere.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const LIMIT_MS = 240_000;

export interface Project {
  readonly folder: string;
  /** Paths inside the package, as the tarball has them. */
  readonly packed: readonly string[];
  /** What `npx lingate` starts. */
  readonly lingate: string;
  remove(): void;
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Outside of this checkout, so that nothing of its own is ever found by chance. */
export function emptyFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'lingate-package-')));
}

export async function packAndInstall(): Promise<Project> {
  const folder = emptyFolder();
  const pack = await npm(['pack', '--json', '--pack-destination', folder], ROOT);
  const [packed] = Object.values(JSON.parse(pack.slice(pack.search(/^[[{]/m))) as Record<string, Packed>);
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'a-project', private: true }));
  await npm(['install', '--no-audit', '--no-fund', '--prefer-offline', `./${packed!.filename}`], folder);
  return {
    folder,
    packed: packed!.files.map(({ path }) => path),
    lingate: join(folder, 'node_modules/.bin/lingate'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** With the Node of these tests in front, as in a project that has it. */
export async function npm(args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, PATH: `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}` };
  return (await run('npm', args, { cwd, env, timeout: LIMIT_MS, maxBuffer: 1 << 24 })).stdout;
}

/** Files by their path below the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}
