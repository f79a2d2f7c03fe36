// Builds a release in `release/`: the package, its bill of materials (CycloneDX) and checksums. The
// same commit gives the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { billOfPackages } from './bill-of-materials.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const FOLDER = join(ROOT, 'release');

/** The output of `npm pack --json`. */
interface Listed {
  readonly files: readonly { readonly path: string }[];
}

const { name, version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Readonly<Record<'name' | 'version', string>>;

try {
  const seconds = secondsOfCommit();
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER);
  pack();
  const tarball = `${name}-${version}.tgz`;
  const bill = `${name}-${version}.cdx.json`;
  writeFileSync(join(FOLDER, bill), billOfPackages(digestOf(tarball), seconds));
  const sums = [tarball, bill].map((file) => `${digestOf(file)}  ${file}\n`).join('');
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums);
  process.stdout.write(sums);
} catch (error) {
  process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

/** The package contains file modes, which differ between checkouts, so they are set on copies. */
function pack(): void {
  const staged = mkdtempSync(join(tmpdir(), 'lingate-release-'));
  try {
    // This also builds `dist/`.
    const printed = run('npm', ['pack', '--dry-run', '--json', '--loglevel', 'error']);
    const [{ files }] = Object.values(JSON.parse(printed.slice(printed.search(/^[[{]/m))) as Record<string, Listed>) as [Listed];
    for (const { path } of files) {
      const copy = join(staged, path);
      mkdirSync(dirname(copy), { recursive: true });
      copyFileSync(join(ROOT, path), copy);
      chmodSync(copy, (statSync(join(ROOT, path)).mode & 0o100) === 0 ? 0o644 : 0o755);
    }
    run('npm', ['pack', '--ignore-scripts', '--loglevel', 'error', '--pack-destination', FOLDER], staged);
  } finally {
    rmSync(staged, { recursive: true, force: true });
  }
}

/** The commit's, the only time in a release. Without git, `SOURCE_DATE_EPOCH` gives it. */
function secondsOfCommit(): number {
  const given = process.env['SOURCE_DATE_EPOCH'];
  if (given !== undefined) {
    if (/^\d{1,11}$/.test(given)) return Number(given);
    throw new Error('SOURCE_DATE_EPOCH: must be whole seconds since 1970');
  }
  if (run('git', ['status', '--porcelain']) !== '')
    throw new Error('a release is built from a commit: commit your changes, or remove them');
  return Number(run('git', ['log', '-1', '--format=%ct']));
}

function digestOf(file: string): string {
  return createHash('sha256')
    .update(readFileSync(join(FOLDER, file)))
    .digest('hex');
}

function run(program: string, args: readonly string[], cwd = ROOT): string {
  return execFileSync(program, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
