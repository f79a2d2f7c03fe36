// Access tokens: they stand for an API key until they expire, and nothing of them is kept. The key's digest and the time of expiry,
// sealed by AES-256-GCM with a key that is derived from a shared secret for one purpose.
import { createCipheriv, createDecipheriv, hkdfSync } from 'node:crypto';
import type { KeyDigest } from './api-key.ts';

/** As at Azure. */
export const TOKEN_LIFE_MS = 600_000;
/** A clock of another process may be this much ahead, the most by which a clock may step without being doubted. */
const AHEAD_MS = 3_600_000;
const DAY_MS = 86_400_000;

const PREFIX = 'la_token_';
/** 66 bytes in base64url. */
const PATTERN = /^la_token_[A-Za-z0-9_-]{88}$/;
const [EXPIRY_BYTES, NONCE_BYTES, DIGEST_BYTES, TAG_BYTES] = [6, 12, 32, 16];
const SEALED_FROM = EXPIRY_BYTES + NONCE_BYTES;
const TAG_FROM = SEALED_FROM + DIGEST_BYTES;

export const SECRET_BYTES = 32;
/** How long a secret must be kept from when it was first needed: the rest of its day, and the last token's life, with a margin. */
export const SECRET_KEPT_MS = 2 * DAY_MS;

/** What a token says before it is opened. */
export interface SealedToken {
  readonly bytes: Buffer;
  readonly expiresAtMs: number;
  /** The name of the secret that it was sealed with. */
  readonly secretName: string;
}

/** Whether a value has the form of a token. */
export function isToken(value: string): boolean {
  return PATTERN.test(value);
}

/** Each UTC day has its own secret, so that one that was read from a backup or a dump opens and seals nothing a day later. */
export function secretNameAt(nowMs: number): string {
  return `tokens:${Math.floor(nowMs / DAY_MS)}`;
}

/** A key for one purpose, so that tokens of one API are none in another. */
export function tokenKey(secret: Uint8Array, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', `lingate access token: ${purpose}`, 32));
}

/** `nonce` returns random bytes. */
export function sealToken(key: Buffer, digest: KeyDigest, expiresAtMs: number, nonce: (size: number) => Uint8Array): string {
  const bytes = Buffer.alloc(TAG_FROM + TAG_BYTES);
  bytes.writeUIntBE(expiresAtMs, 0, EXPIRY_BYTES);
  bytes.set(nonce(NONCE_BYTES), EXPIRY_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, bytes.subarray(EXPIRY_BYTES, SEALED_FROM));
  cipher.setAAD(bytes.subarray(0, EXPIRY_BYTES));
  bytes.set(cipher.update(Buffer.from(digest, 'base64url')), SEALED_FROM);
  cipher.final();
  bytes.set(cipher.getAuthTag(), TAG_FROM);
  return PREFIX + bytes.toString('base64url');
}

/** `undefined` if it is no token, has expired, or expires later than any that can have been issued by now. */
export function readToken(value: string, nowMs: number): SealedToken | undefined {
  if (!PATTERN.test(value)) return undefined;
  const bytes = Buffer.from(value.slice(PREFIX.length), 'base64url');
  const expiresAtMs = bytes.readUIntBE(0, EXPIRY_BYTES);
  if (expiresAtMs <= nowMs || expiresAtMs > nowMs + TOKEN_LIFE_MS + AHEAD_MS) return undefined;
  return { bytes, expiresAtMs, secretName: secretNameAt(expiresAtMs - TOKEN_LIFE_MS) };
}

/** The digest of the key that the token stands for; `undefined` if it was sealed with another key, or altered. */
export function openToken(key: Buffer, { bytes }: SealedToken): KeyDigest | undefined {
  const opener = createDecipheriv('aes-256-gcm', key, bytes.subarray(EXPIRY_BYTES, SEALED_FROM), { authTagLength: TAG_BYTES });
  opener.setAAD(bytes.subarray(0, EXPIRY_BYTES));
  opener.setAuthTag(bytes.subarray(TAG_FROM));
  const digest = opener.update(bytes.subarray(SEALED_FROM, TAG_FROM));
  try {
    opener.final();
  } catch {
    return undefined;
  }
  return digest.toString('base64url');
}
