// What names a document to those without a key of the team: DeepL's document keys, and links. Both come from the configured secret.
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import type { LinkedDocument } from '../ports/document-services.ts';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Of a link; ids of teams are short. */
const LINK_CHARACTERS_MAX = 400;
const LINK = /^[\w-]+$/;

export class DocumentKeys {
  readonly #keySecret: Uint8Array;
  readonly #linkSecret: Uint8Array;

  constructor(secret: Uint8Array) {
    const derived = (purpose: string): Uint8Array => new Uint8Array(hkdfSync('sha256', secret, '', `lingate ${purpose}`, KEY_BYTES));
    this.#keySecret = derived('document keys');
    this.#linkSecret = derived('document links');
  }

  /** 64 hexadecimal digits in upper case. */
  keyOf(documentId: string): string {
    return createHmac('sha256', this.#keySecret).update(documentId).digest('hex').toUpperCase();
  }

  linkTo({ teamId, documentId }: LinkedDocument): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#linkSecret, nonce, { authTagLength: TAG_BYTES });
    const sealed = [cipher.update(`${documentId} ${teamId}`, 'utf8'), cipher.final()];
    return Buffer.concat([nonce, ...sealed, cipher.getAuthTag()]).toString('base64url');
  }

  linked(link: string): LinkedDocument | undefined {
    if (link.length > LINK_CHARACTERS_MAX || !LINK.test(link)) return undefined;
    const bytes = Buffer.from(link, 'base64url');
    if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
    const end = bytes.length - TAG_BYTES;
    try {
      const decipher = createDecipheriv(CIPHER, this.#linkSecret, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
      decipher.setAuthTag(bytes.subarray(end));
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8');
      const space = text.indexOf(' ');
      return { documentId: text.slice(0, space), teamId: text.slice(space + 1) };
    } catch {
      return undefined;
    }
  }
}
