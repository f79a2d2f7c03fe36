// Files of documents in a directory that all gateways share: a folder for each document, written whole or not at all.
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { DocumentFolder, NewDocumentFile } from '../ports/documents.ts';

const LENGTH_BYTES = 4;
/** Only the gateway's own user. */
const MODES = { folder: 0o700, file: 0o600 };

export class DirectoryOfDocuments implements DocumentFolder {
  readonly #path: string;

  /** It may not exist yet: then it is empty. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Creates the directory if there is none. Rejects if it cannot be written. */
  static async open(path: string): Promise<DirectoryOfDocuments> {
    await mkdir(path, { recursive: true, mode: MODES.folder });
    const probe = join(path, `.probe-${process.pid}`);
    await (await open(probe, 'w', MODES.file)).close();
    await rm(probe, { force: true });
    return new DirectoryOfDocuments(path);
  }

  async write(documentId: string, { fileId, pieces }: NewDocumentFile): Promise<void> {
    const folder = join(this.#path, documentId);
    await mkdir(folder, { recursive: true, mode: MODES.folder });
    const [path, written] = [join(folder, fileId), join(folder, `.${fileId}`)];
    const file = await open(written, 'w', MODES.file);
    try {
      for (const piece of pieces) await file.appendFile(Buffer.concat([lengthOf(piece), piece]));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(written, path);
  }

  async read(documentId: string, fileId: string): Promise<EntryPieces | undefined> {
    try {
      return piecesOf(await readFile(join(this.#path, documentId, fileId)));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  async remove(documentId: string, fileId: string): Promise<void> {
    await rm(join(this.#path, documentId, fileId), { force: true });
  }

  async list(): Promise<readonly string[]> {
    const found = await readdir(this.#path, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    return found.filter((one) => one.isDirectory()).map(({ name }) => name);
  }

  async removeAll(documentId: string): Promise<void> {
    await rm(join(this.#path, documentId), { recursive: true, force: true });
  }
}

function lengthOf({ length }: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32BE(length);
  return bytes;
}

function piecesOf(bytes: Buffer): EntryPieces {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at + LENGTH_BYTES <= bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readUInt32BE(at);
    pieces.push(bytes.subarray(at + LENGTH_BYTES, end));
    at = end;
  }
  return pieces;
}
