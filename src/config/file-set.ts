// The files of one load of the configuration: each is read once, and a later look tells whether any has changed since.
import { readFileSync, statSync } from 'node:fs';

/** What was found at a path. Survives structured cloning. */
export type FileRead =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  /** A pipe or a device, which can only be read once. */
  | { readonly kind: 'stream'; readonly bytes: Buffer }
  /** The code of the system's error: ENOENT. */
  | { readonly kind: 'unreadable'; readonly code: string };

/** By absolute path. Contains secrets: do not print it. */
export type FileContents = ReadonlyMap<string, FileRead>;

/**
 * Longer than the time between two looks, because some file systems keep times in whole seconds. What was last changed before that
 * would have been the same at an earlier look.
 */
const RECENT_MS = 1000;

export class FileSet {
  readonly #contents = new Map<string, FileRead>();
  #changedAtMs = -Infinity;

  /** Takes over the streams of an earlier load. */
  constructor(before?: FileSet) {
    for (const [path, read] of before?.contents ?? []) if (read.kind === 'stream') this.#contents.set(path, read);
  }

  get contents(): FileContents {
    return this.#contents;
  }

  /** Throws as `readFileSync` does. */
  read(path: string): Buffer {
    this.add(path);
    return bytesOf(this.#contents, path);
  }

  /** Reads the file unless it has been read; one that cannot be read is recorded as such. */
  add(path: string): void {
    if (this.#contents.has(path)) return;
    this.#contents.set(path, look(path));
    // After reading, so that a write in between counts.
    this.#changedAtMs = Math.max(this.#changedAtMs, changedAtMs(path));
  }

  /** Whether a file was changed so recently that someone may still be writing it. `nowMs` is the wall clock. */
  isRecent(nowMs: number): boolean {
    return nowMs - this.#changedAtMs < RECENT_MS;
  }

  /** Paths of the files that are no longer as they were read. */
  changed(): string[] {
    return [...this.#contents].filter(([path, read]) => read.kind !== 'stream' && !isSame(read, look(path))).map(([path]) => path);
  }
}

/** Throws as `readFileSync` does. */
export function bytesOf(files: FileContents, path: string): Buffer {
  const read = files.get(path);
  if (read === undefined) throw new Error(`${path} does not belong to the configuration`);
  if (read.kind === 'unreadable') throw Object.assign(new Error(`${path} cannot be read`), { code: read.code });
  return read.bytes;
}

function look(path: string): FileRead {
  try {
    const kind = statSync(path).isFile() ? 'file' : 'stream';
    return { kind, bytes: readFileSync(path) };
  } catch (error) {
    return { kind: 'unreadable', code: (error as NodeJS.ErrnoException).code ?? 'unknown' };
  }
}

/** With the time of the directory entry: a renamed file keeps its own. */
function changedAtMs(path: string): number {
  try {
    const found = statSync(path);
    return found.isFile() ? Math.max(found.mtimeMs, found.ctimeMs) : -Infinity;
  } catch {
    return -Infinity;
  }
}

function isSame(before: FileRead, now: FileRead): boolean {
  if (before.kind === 'unreadable') return now.kind === 'unreadable' && before.code === now.code;
  return now.kind !== 'unreadable' && before.bytes.equals(now.bytes);
}
