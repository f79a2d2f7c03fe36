// What the configured secret of documents is for: files are encrypted with it, and documents are
// named to those without a key of the team, by DeepL's document keys and by links. AES-256-GCM
// everywhere.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { nextTurn } from '../../core/turns.ts';
import type { EntryPieces } from '../../domain/entries-text.ts';
import type { LinkedDocument } from '../../ports/document-services.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** With the tag less than a piece's most bytes (ports/record-space.ts); takes 0.1 ms. */
const PIECE_BYTES = 120 * 1024;
/** Of a link; ids of teams are short. */
const LINK = /^[\w-]{1,400}$/;

/** Encrypts files in pieces, each file with a key of its own. */
export class DocumentSealer {
  readonly #secret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#secret = secret;
  }

  /** At least one piece, also of an empty file. `fileId` must never be used for another file. */
  async seal(documentId: string, fileId: string, bytes: Uint8Array): Promise<EntryPieces> {
    const key = this.#keyOf(documentId, fileId);
    const last = Math.max(0, Math.ceil(bytes.length / PIECE_BYTES) - 1);
    const pieces: Uint8Array[] = [];
    for (let i = 0; i <= last; i++) {
      if (i > 0) await nextTurn();
      pieces.push(sealed(key, nonceOf(i, i === last), bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES)));
    }
    return pieces;
  }

  /** `undefined` if anything differs: the file, its pieces and their order, ids, or the secret. */
  async open(documentId: string, fileId: string, pieces: EntryPieces): Promise<Uint8Array | undefined> {
    const key = this.#keyOf(documentId, fileId);
    const all: Uint8Array[] = [];
    for (const [i, piece] of pieces.entries()) {
      if (i > 0) await nextTurn();
      const bytes = opened(key, nonceOf(i, i === pieces.length - 1), piece);
      if (bytes === undefined) return undefined;
      all.push(bytes);
    }
    return all.length === 0 ? undefined : Buffer.concat(all);
  }

  /** Takes a hundredth of a millisecond, less than handing it to another thread. */
  #keyOf(documentId: string, fileId: string): Uint8Array {
    return derived(this.#secret, documentId, `document ${fileId}`);
  }
}

/** Names of documents that nobody can make up. */
export class DocumentKeys {
  readonly #keySecret: Uint8Array;
  readonly #linkSecret: Uint8Array;

  constructor(secret: Uint8Array) {
    this.#keySecret = derived(secret, '', 'document keys');
    this.#linkSecret = derived(secret, '', 'document links');
  }

  /** 64 hexadecimal digits in upper case. */
  keyOf(documentId: string): string {
    return createHmac('sha256', this.#keySecret).update(documentId).digest('hex').toUpperCase();
  }

  linkTo({ teamId, documentId }: LinkedDocument): string {
    const nonce = randomBytes(NONCE_BYTES);
    return Buffer.concat([nonce, sealed(this.#linkSecret, nonce, Buffer.from(`${documentId} ${teamId}`))]).toString('base64url');
  }

  linked(link: string): LinkedDocument | undefined {
    if (!LINK.test(link)) return undefined;
    const bytes = Buffer.from(link, 'base64url');
    const text = opened(this.#linkSecret, bytes.subarray(0, NONCE_BYTES), bytes.subarray(NONCE_BYTES))?.toString('utf8');
    const [, documentId, teamId] = /^(\S+) (.+)$/s.exec(text ?? '') ?? [];
    return documentId === undefined ? undefined : { documentId, teamId: teamId! };
  }
}

function derived(secret: Uint8Array, salt: string, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, salt, `lingate ${purpose}`, KEY_BYTES));
}

/** Each piece of a file has its own, and the last is marked, so that a file cannot be cut. */
function nonceOf(piece: number, isLast: boolean): Uint8Array {
  const nonce = Buffer.alloc(NONCE_BYTES);
  nonce.writeUInt32BE(piece, 0);
  nonce[NONCE_BYTES - 1] = isLast ? 1 : 0;
  return nonce;
}

/** The tag comes last. */
function sealed(key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array): Buffer {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  return Buffer.concat([cipher.update(bytes), cipher.final(), cipher.getAuthTag()]);
}

/** `undefined` if anything was changed. */
function opened(key: Uint8Array, nonce: Uint8Array, bytes: Uint8Array): Buffer | undefined {
  const end = bytes.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    decipher.setAuthTag(bytes.subarray(end));
    return Buffer.concat([decipher.update(bytes.subarray(0, end)), decipher.final()]);
  } catch {
    return undefined;
  }
}
