// Whether `dist/`, which the programs of tests and benches run, is made of the sources as they are now.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** By time: a build is later than each of its sources. */
export function isBuilt(): boolean {
  const built = join(ROOT, 'dist/main.js');
  if (!existsSync(built)) return false;
  const { mtimeMs } = statSync(built);
  const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' });
  return sources.every((path) => statSync(join(ROOT, 'src', path)).mtimeMs < mtimeMs);
}
