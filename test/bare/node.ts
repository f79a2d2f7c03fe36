// Node and npm in a root file system, as if unpacked from Node's own archive: under `/usr/local`.
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { npmCli } from './machine-settings.ts';

/** The Node of that file, and the npm that runs this script. */
export function putNode(root: string, node: string): void {
  const lib = join(root, 'usr/local/lib/node_modules');
  mkdirSync(lib, { recursive: true });
  cpSync(node, join(root, 'usr/local/bin/node'), { dereference: true });
  const npm = dirname(dirname(npmCli()));
  // Its own file of settings, where a distribution has put one, is of this machine's folders.
  cpSync(npm, join(lib, 'npm'), { recursive: true, dereference: true, filter: (path) => path !== join(npm, 'npmrc') });
  for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
}
