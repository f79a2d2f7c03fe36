// Encrypts files of documents: AES-256-GCM in pieces, with a key of its own for each file, derived from the configured secret.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import { nextTurn } from '../core/turns.ts';
import type { EntryPieces } from '../domain/entries-text.ts';
import type { SealsDocuments } from '../ports/documents.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** With the tag less than the most bytes of a piece (ports/record-space.ts); takes a tenth of a millisecond. */
const PIECE_BYTES = 120 * 1024;

export class DocumentSealer implements SealsDocuments {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  async seal(documentId: string, fileId: string, bytes: Uint8Array): Promise<EntryPieces> {
    const key = this.#keyOf(documentId, fileId);
    const count = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
    const pieces: Uint8Array[] = [];
    for (let i = 0; i < count; i++) {
      if (i > 0) await nextTurn();
      const cipher = createCipheriv(CIPHER, key, nonceOf(i, i === count - 1), { authTagLength: TAG_BYTES });
      const sealed = cipher.update(bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES));
      pieces.push(Buffer.concat([sealed, cipher.final(), cipher.getAuthTag()]));
    }
    return pieces;
  }

  async open(documentId: string, fileId: string, pieces: EntryPieces): Promise<Uint8Array | undefined> {
    const key = this.#keyOf(documentId, fileId);
    const opened: Uint8Array[] = [];
    try {
      for (const [i, piece] of pieces.entries()) {
        if (i > 0) await nextTurn();
        const end = piece.length - TAG_BYTES;
        const decipher = createDecipheriv(CIPHER, key, nonceOf(i, i === pieces.length - 1), { authTagLength: TAG_BYTES });
        decipher.setAuthTag(piece.subarray(end));
        opened.push(decipher.update(piece.subarray(0, end)), decipher.final());
      }
    } catch {
      return undefined;
    }
    return pieces.length === 0 ? undefined : Buffer.concat(opened);
  }

  /** Takes a hundredth of a millisecond, less than handing it to another thread. */
  #keyOf(documentId: string, fileId: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#secret, documentId, `lingate document ${fileId}`, KEY_BYTES));
  }
}

/** Each piece has its own, and the last is marked, so that a file cannot be cut. */
function nonceOf(piece: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, 0);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}
