// Seals and opens the access tokens of one API: keeps the secrets of the last days, which the store's processes share.
import { randomBytes } from 'node:crypto';
import {
  openToken,
  readToken,
  sealToken,
  SECRET_BYTES,
  SECRET_KEPT_MS,
  secretNameAt,
  TOKEN_LIFE_MS,
  tokenKey,
} from '../domain/access-token.ts';
import type { SealedToken } from '../domain/access-token.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { TokenSealer } from '../ports/access-tokens.ts';
import type { SharedSecrets } from '../ports/shared-secrets.ts';

/** How often a secret is compared with the store's, which may have lost it in a failover. */
const COMPARE_EVERY_MS = 60_000;
/** Today's, yesterday's, and tomorrow's of a process whose clock is ahead. */
const SECRETS_MAX = 3;
const UNKNOWN_TIME: StoreUnavailable = { kind: 'unavailable', cause: 'busy' };

interface TokenSealerOptions {
  readonly secrets: SharedSecrets;
  /** Tokens of one purpose are none for another. */
  readonly purpose: string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface HeldSecret {
  readonly secret: Uint8Array;
  readonly key: Buffer;
  comparedAtMs: number;
}

export class SharedTokenSealer implements TokenSealer {
  readonly #options: TokenSealerOptions;
  readonly #held = new Map<string, HeldSecret>();
  readonly #reading = new Map<string, Promise<HeldSecret | StoreUnavailable>>();

  constructor(options: TokenSealerOptions) {
    this.#options = options;
  }

  async seal(digest: KeyDigest): Promise<string | StoreUnavailable> {
    const nowMs = this.#options.secrets.nowMs();
    if (nowMs === undefined) return UNKNOWN_TIME;
    const held = await this.#secret(secretNameAt(nowMs));
    return isUnavailable(held) ? held : sealToken(held.key, digest, nowMs + TOKEN_LIFE_MS, randomBytes);
  }

  open(token: string): KeyDigest | undefined | StoreUnavailable | Promise<KeyDigest | undefined | StoreUnavailable> {
    const nowMs = this.#options.secrets.nowMs();
    if (nowMs === undefined) return UNKNOWN_TIME;
    const sealed = readToken(token, nowMs);
    if (sealed === undefined) return undefined;
    const held = this.#secret(sealed.secretName);
    return held instanceof Promise ? held.then((found) => opened(found, sealed)) : opened(held, sealed);
  }

  #secret(name: string): HeldSecret | Promise<HeldSecret | StoreUnavailable> {
    const held = this.#held.get(name);
    if (held === undefined) return this.#read(name);
    if (this.#options.now() - held.comparedAtMs >= COMPARE_EVERY_MS) {
      held.comparedAtMs = this.#options.now();
      // Nobody waits for it: requests go on with the secret that was agreed before.
      void this.#read(name, held.secret);
    }
    return held;
  }

  #read(name: string, candidate: Uint8Array = randomBytes(SECRET_BYTES)): Promise<HeldSecret | StoreUnavailable> {
    const reading = this.#reading.get(name);
    if (reading !== undefined) return reading;
    const { secrets, purpose, now } = this.#options;
    const read = secrets.agree(name, candidate, SECRET_KEPT_MS).then((secret) => {
      this.#reading.delete(name);
      if (isUnavailable(secret)) return secret;
      const held = { secret, key: tokenKey(secret, purpose), comparedAtMs: now() };
      this.#held.delete(name);
      this.#held.set(name, held);
      for (const oldest of this.#held.keys()) if (this.#held.size > SECRETS_MAX) this.#held.delete(oldest);
      return held;
    });
    this.#reading.set(name, read);
    return read;
  }
}

function opened(held: HeldSecret | StoreUnavailable, sealed: SealedToken): KeyDigest | undefined | StoreUnavailable {
  return isUnavailable(held) ? held : openToken(held.key, sealed);
}
