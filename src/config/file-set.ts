// The files of one load of the configuration: each is read once.
import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

/** What was found at a path. Survives structured cloning. */
type FileRead =
  | { readonly kind: 'file'; readonly bytes: Buffer }
  /** A pipe or a device, which can only be read once. */
  | { readonly kind: 'stream'; readonly bytes: Buffer }
  /** The code of the system's error: ENOENT. */
  | { readonly kind: 'unreadable'; readonly code: string };

/** By absolute path. Contains secrets: do not print it. */
export type FileContents = ReadonlyMap<string, FileRead>;

export class FileSet {
  readonly #contents = new Map<string, FileRead>();

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
    if (!this.#contents.has(path)) this.#contents.set(path, look(path));
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

/** Paths in a file are relative to the folder of the file. */
export function besideFile(path: string, file: string): string {
  return resolve(dirname(file), path);
}
