// Node and npm in a root file system, as if unpacked from Node's own archive: under `/usr/local`.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { mustRun } from './command.ts';
import { npmCli } from './machine-settings.ts';
import { cacheFolder } from './root-file-system.ts';

/** `own` is this machine's, which runs npm; the others are releases, by their first number. */
export const NODES = ['own', '22', '24', '26'] as const;

export type NodeName = (typeof NODES)[number];

/** Packages of Debian that Node itself needs beside the base system. */
export const NODE_NEEDS: Readonly<Partial<Record<NodeName, readonly string[]>>> = { '26': ['libatomic1'] };

/** What `npm ci` at the top brings is Node 22; npm has the others by a lock file of their own, because only one can be a dependency there. */
const OF_PROJECT = fileURLToPath(new URL('../../node_modules/node/bin/node', import.meta.url));
const OTHERS = fileURLToPath(new URL('nodes/', import.meta.url));
const MANIFESTS = ['package.json', 'package-lock.json'] as const;
const INSTALL_MS = 180_000;

/** The program of that name, installed if need be. */
export async function nodeFile(name: NodeName): Promise<string> {
  if (name === 'own') return process.env['npm_node_execpath'] ?? process.execPath;
  if (name === '22') return OF_PROJECT;
  const digest = createHash('sha256')
    .update(readFileSync(join(OTHERS, 'package-lock.json')))
    .digest('hex');
  const folder = cacheFolder(`nodes-${digest.slice(0, 12)}`);
  const file = join(folder, `node_modules/node-${name}-${process.arch}/bin/node`);
  if (existsSync(file)) return file;
  for (const manifest of MANIFESTS) copyFileSync(join(OTHERS, manifest), join(folder, manifest));
  await mustRun('npm', ['ci', '--no-audit', '--no-fund', '--prefix', folder], { limitMs: INSTALL_MS, cwd: folder });
  return file;
}

/** The Node of that file, and the npm that runs this script. */
export function putNode(root: string, node: string): void {
  const lib = join(root, 'usr/local/lib/node_modules');
  mkdirSync(lib, { recursive: true });
  changeNode(root, node);
  const npm = dirname(dirname(npmCli()));
  // Its own file of settings, where a distribution has put one, is of this machine's folders.
  cpSync(npm, join(lib, 'npm'), { recursive: true, dereference: true, filter: (path) => path !== join(npm, 'npmrc') });
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
}

/** Another Node in the place of the one that is there. */
export function changeNode(root: string, node: string): void {
  const place = join(root, 'usr/local/bin/node');
  rmSync(place, { force: true });
  cpSync(node, place, { dereference: true });
}
