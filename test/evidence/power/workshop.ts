// A copy of the project to plant bugs in: sources and tests are copied, installed packages are shared.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutation } from './mutation.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = ['src', 'dist', 'test', 'config', 'package.json', 'tsconfig.json'];
/** Relative imports, which name sources. */
const SOURCE_IMPORT = /(?<=\b(?:from|import\() ?'\.[^'\n]*)\.ts'/g;

export class Workshop {
  readonly folder: string;
  readonly #originals = new Map<string, string>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** The table must match the sources: returns a line for each text that does not occur exactly once. */
  faultsOf({ name, edits }: Mutation): string[] {
    return edits.flatMap(({ file, find }) => {
      const path = join(this.folder, file);
      const times = existsSync(path) ? readFileSync(path, 'utf8').split(find).length - 1 : 0;
      if (times === 1) return [];
      return [`OUT OF DATE: ${name}: ${file} holds this text ${times} times instead of once: ${JSON.stringify(find)}`];
    });
  }

  /** Only bugs without such faults. */
  plant({ edits }: Mutation): void {
    for (const { file, find, replace } of edits) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      const planted = text.replace(find, () => replace);
      this.#write(path, planted);
      const compiled = this.#compiledOf(file);
      if (existsSync(compiled)) this.#write(compiled, file.endsWith('.ts') ? javaScriptOf(planted) : planted);
    }
  }

  /** Processes run what is compiled. */
  #compiledOf(file: string): string {
    return join(this.folder, file.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js'));
  }

  #write(path: string, text: string): void {
    if (!this.#originals.has(path)) this.#originals.set(path, readFileSync(path, 'utf8'));
    writeFileSync(path, text);
  }

  restore(): void {
    for (const [path, text] of this.#originals) writeFileSync(path, text);
    this.#originals.clear();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** What the compiler makes of a source, as far as a process can tell. */
function javaScriptOf(source: string): string {
  return stripTypeScriptTypes(source).replaceAll(SOURCE_IMPORT, ".js'");
}
