// Watches the file of an open database: SQLite goes on writing to a file that was deleted, moved or made read-only, and all of
// that is lost.
import { constants, statSync } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { IN_MEMORY } from './open-database.ts';

/** `replaced`: another file is at the path, and this process still uses the previous one. */
export type FileFault = 'vanished' | 'replaced' | 'read_only';

const WRITABLE_BY_ANYBODY = 0o222;

export class DatabaseFile {
  readonly #location: string | undefined;
  readonly #opened: string;

  /** Create it right after opening the database. */
  constructor(path: string) {
    this.#location = path === IN_MEMORY ? undefined : resolve(path);
    this.#opened = this.#location === undefined ? '' : identityOf(statSync(this.#location));
  }

  async fault(): Promise<FileFault | undefined> {
    if (this.#location === undefined) return undefined;
    try {
      const found = await stat(this.#location);
      if (identityOf(found) !== this.#opened) return 'replaced';
      // Root may write despite the mode, but the operator's intention counts.
      if ((found.mode & WRITABLE_BY_ANYBODY) === 0) return 'read_only';
      await access(this.#location, constants.W_OK);
      return undefined;
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined;
      return code === 'ENOENT' || code === 'ENOTDIR' ? 'vanished' : 'read_only';
    }
  }
}

function identityOf({ dev, ino }: { readonly dev: number; readonly ino: number }): string {
  return `${dev}:${ino}`;
}
