// A copy of the project to plant bugs in: sources and tests are copied, installed packages are shared.
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Anchors } from './anchors.ts';
import type { Place } from './anchors.ts';
import type { Mutation } from './mutation.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = ['src', 'dist', 'test', 'config', 'package.json', 'tsconfig.json'];
/** Relative imports, which name sources. */
const SOURCE_IMPORT = /(?<=\b(?:from|import\() ?'\.[^'\n]*)\.ts'/g;

export class Workshop {
  readonly folder: string;
  readonly anchors = new Anchors(ROOT);
  readonly #originals = new Map<string, string>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Only bugs without such faults. */
  plant({ edits }: Mutation): void {
    const planted = edits.map((edit) => ({ ...(this.anchors.find(edit) as Place), replace: edit.replace }));
    // From the end of a file, so that the places before it remain.
    for (const { file, start, end, replace } of planted.toSorted((a, b) => b.start - a.start)) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      const changed = text.slice(0, start) + replace + text.slice(end);
      this.#write(path, changed);
      const compiled = this.#compiledOf(file);
      if (existsSync(compiled)) this.#write(compiled, file.endsWith('.ts') ? javaScriptOf(changed) : changed);
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
