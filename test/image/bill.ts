// Whether the image's bill of materials lists what is in it, and nothing else: by the lock file, by its own file system, by dpkg and Node.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its path in the image. */
export const BILL = 'app/lingate.cdx.json';

interface Listed {
  readonly name: string;
  readonly version: string;
  readonly purl?: string;
}

/** What is missing or not there, as NAME@VERSION. `others` are Node and Debian's packages, as they say themselves. */
export function billFaults(root: string, lockFile: string, others: readonly string[]): string[] {
  const { components } = JSON.parse(readFileSync(join(root, BILL), 'utf8')) as { components: readonly Listed[] };
  const isNpm = ({ purl }: Listed): boolean => purl?.startsWith('pkg:npm/') === true;
  const { packages } = JSON.parse(lockFile) as { packages: Record<string, { dev?: boolean; version?: string }> };
  const locked = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return [
    ...differences(
      'the lock file',
      components.filter(isNpm).map(written),
      locked.map(([path, { version }]) => `${nameOf(path)}@${version}`),
    ),
    ...differences(
      'the file system',
      components.filter(isNpm).map(written),
      locked.map(([path]) => `${nameOf(path)}@${versionIn(join(root, 'app', path))}`),
    ),
    ...differences('the base system', components.filter((one) => !isNpm(one)).map(written), others),
  ];
}

function written({ name, version }: Listed): string {
  return `${name}@${version}`;
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}

function differences(where: string, listed: readonly string[], there: readonly string[]): string[] {
  const [left, right] = [new Set(listed), new Set(there)];
  return [
    ...[...left].filter((one) => !right.has(one)).map((one) => `${one} is listed and not in ${where}`),
    ...[...right].filter((one) => !left.has(one)).map((one) => `${one} is in ${where} and not listed`),
  ];
}
