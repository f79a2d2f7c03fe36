// A copy of the project to plant bugs in: sources and tests are copied, installed packages are shared.
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Mutation } from './mutation.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const COPIED = ['src', 'test', 'config', 'package.json', 'tsconfig.json'];

export class Workshop {
  readonly folder: string;
  readonly #originals = new Map<string, string>();

  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'lingate-power-'));
    for (const name of COPIED) cpSync(join(ROOT, name), join(this.folder, name), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(this.folder, 'node_modules'));
  }

  /** Throws when the text to be replaced is not there exactly once: the table must follow the sources. */
  plant({ name, edits }: Mutation): void {
    for (const { file, find, replace } of edits) {
      const path = join(this.folder, file);
      const text = readFileSync(path, 'utf8');
      const times = text.split(find).length - 1;
      if (times !== 1)
        throw new Error(`"${name}" looks for a text that ${file} holds ${times} times; bring test/power/mutations.ts up to date:\n${find}`);
      if (!this.#originals.has(path)) this.#originals.set(path, text);
      writeFileSync(
        path,
        text.replace(find, () => replace),
      );
    }
  }

  restore(): void {
    for (const [path, text] of this.#originals) writeFileSync(path, text);
    this.#originals.clear();
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
