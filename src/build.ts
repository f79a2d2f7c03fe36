// Builds `dist/`: compiles JavaScript and declarations, and copies what is read at run time (Lua, styles, scripts of pages).
import { execFileSync } from 'node:child_process';
import { cpSync, rmSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('.', import.meta.url));
const DIST = fileURLToPath(new URL('../dist/', import.meta.url));
const COMPILER = fileURLToPath(import.meta.resolve('typescript/package.json')).replace('package.json', 'bin/tsc');

/** Sources, the compiler's configuration, and READMEs. */
const NOT_COPIED = new Set(['.ts', '.json', '.md']);
/** Start the sources or the package; part of the package as they are. */
const NOT_BUILT = new Set(['lingate.js', 'supported-node.js', 'checkout.js', 'with-node.sh']);

rmSync(DIST, { recursive: true, force: true });
execFileSync(process.execPath, [COMPILER, '-p', `${SOURCES}tsconfig.build.json`], { stdio: 'inherit' });
cpSync(SOURCES, DIST, { recursive: true, filter: (file) => !NOT_COPIED.has(extname(file)) && !NOT_BUILT.has(basename(file)) });
