// Builds `dist/`: compiles JavaScript and declarations, and copies what is read at run time (Lua,
// styles, scripts of pages), and a licence.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('.', import.meta.url));
const DIST = fileURLToPath(new URL('../dist', import.meta.url));
/** Made beside it and renamed, so that what runs meanwhile finds all files or the ones before. */
const DRAFT = `${DIST}.${process.pid}`;
const OUTDATED = `${DRAFT}.outdated`;
const COMPILER = fileURLToPath(new URL('../node_modules/typescript/bin/tsc', import.meta.url));
const BUNDLER = fileURLToPath(new URL('../node_modules/rolldown/bin/cli.mjs', import.meta.url));
/** uWebSockets.js has the same licence, but its packages have no copy (config/THIRD-PARTY.md). */
const APACHE_LICENSE = fileURLToPath(new URL('../node_modules/prom-client/LICENSE', import.meta.url));

/** Sources, the compiler's configuration, and READMEs. */
const NOT_COPIED = new Set(['.ts', '.json', '.md']);
/** Start what is built; part of the package as they are. */
const NOT_BUILT = new Set(['lingate.js', 'supported-node.js', 'with-node.sh']);

if (!existsSync(COMPILER)) {
  // `npm ci --omit=dev` runs this too.
  process.stderr.write('build: nothing is built without the compiler, a development dependency: run "npm ci" without --omit=dev\n');
} else {
  build();
}

function build(): void {
  try {
    // No check of types, which is most of the work: CI runs `npm run typecheck`.
    const compiled = ['-p', `${SOURCES}tsconfig.build.json`, '--noCheck', '--outDir', DRAFT];
    execFileSync(process.execPath, [COMPILER, ...compiled], { stdio: 'inherit' });
    execFileSync(process.execPath, [BUNDLER, ...bundleOf(`${DRAFT}/domain/typebox.js`)], { stdio: ['ignore', 'ignore', 'inherit'] });
    cpSync(SOURCES, DRAFT, { recursive: true, filter: (file) => !NOT_COPIED.has(extname(file)) && !NOT_BUILT.has(basename(file)) });
    // Without its appendix, which names the authors of that package.
    writeFileSync(`${DRAFT}/Apache-2.0.txt`, readFileSync(APACHE_LICENSE, 'utf8').replace(/\n *APPENDIX:[^]*/, ''));
    if (existsSync(DIST)) renameSync(DIST, OUTDATED);
    renameSync(DRAFT, DIST);
    rmSync(OUTDATED, { recursive: true, force: true });
  } catch (error) {
    rmSync(DRAFT, { recursive: true, force: true });
    // The compiler has said what is wrong.
    if ((error as { readonly status?: unknown }).status === undefined) throw error;
    process.exitCode = 1;
  }
}

/** The arguments for putting into a file what it imports. */
function bundleOf(file: string): string[] {
  // Minified, because comments name this machine's folders: a release has the same bytes.
  return [file, '--format', 'esm', '--platform', 'node', '--minify', '--file', file];
}
