// What is in an image and what is not: exactly the packages that run, one native binary, nothing that its user may change, nothing of who built it.
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';

/** Packages under `/app/node_modules` that do not belong there, and those that are missing. */
export function packageFaults(root: string, lockFile: string): string[] {
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, { dev?: boolean }> };
  const needed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const expected = new Set(needed.map(([path]) => path));
  const found = new Set(packagesIn(root, 'app/node_modules').map((path) => path.slice('app/'.length)));
  return [
    ...[...found].filter((path) => !expected.has(path)).map((path) => `${path} is not needed`),
    ...[...expected].filter((path) => !found.has(path)).map((path) => `${path} is missing`),
  ];
}

function packagesIn(root: string, folder: string): string[] {
  if (!existsSync(join(root, folder))) return [];
  const names = readdirSync(join(root, folder)).filter((name) => !name.startsWith('.'));
  const paths = names.flatMap((name) =>
    name.startsWith('@') ? readdirSync(join(root, folder, name)).map((part) => `${name}/${part}`) : [name],
  );
  return paths.flatMap((path) => [`${folder}/${path}`, ...packagesIn(root, `${folder}/${path}/node_modules`)]);
}

/** Native binaries of the application, by path. */
export function nativeBinaries(root: string): string[] {
  return filesIn(root, 'app').filter((path) => path.endsWith('.node'));
}

/** What only development needs, sources and declarations; those in `config/examples/` are for readers. */
export function surplus(root: string): string[] {
  return ['dist', 'src'].flatMap((folder) => filesIn(root, `app/${folder}`)).filter((path) => path.endsWith('.ts'));
}

/** What of the application may be changed by anybody but root. */
export function changeable(root: string): string[] {
  return filesIn(root, 'app').filter((path) => {
    const { uid, mode } = lstatSync(join(root, path));
    return uid !== 0 || (!lstatSync(join(root, path)).isSymbolicLink() && (mode & 0o022) !== 0);
  });
}

/** Files that hold settings of the machine that built it. */
export function settingsOfTheBuilder(root: string): string[] {
  const positions = ['usr/local/etc', 'usr/etc', 'etc/ssl/certs', 'usr/local/share/ca-certificates'].filter((path) =>
    existsSync(join(root, path)),
  );
  const npmrc = ['etc/npmrc', 'root/.npmrc', '.npmrc', 'app/.npmrc', 'usr/local/lib/node_modules/npm/npmrc'];
  return [...positions.flatMap((path) => filesIn(root, path)), ...npmrc].filter((path) => existsSync(join(root, path)));
}

/** The name of the one that this platform and the image's Node load: 137 is the ABI of Node 24. */
export const BINARY = `uws_linux_${process.arch}_137.node`;

function filesIn(root: string, folder: string): string[] {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => !entry.isDirectory()).map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** The lock file of a project. */
export function lockFileOf(project: string): string {
  return readFileSync(join(project, 'package-lock.json'), 'utf8');
}
