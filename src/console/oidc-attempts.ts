// Attempts to sign in at a provider. State, nonce and PKCE verifier are derived from a seed, which
// the browser keeps in a cookie, and a secret that the processes of a store share: so every process
// recognizes an attempt, and nobody else can make one.
import { createHmac, hash, hkdfSync, randomBytes } from 'node:crypto';
import { DAY_MS } from '../domain/period.ts';
import { answered, storeErrorOf } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { SharedSecrets } from '../ports/store.ts';

/** From the redirect to the provider until the browser is back. */
export const ATTEMPT_MS = 600_000;
/** How long a day's secret is needed: its day, and the last attempt, with a margin. */
const SECRET_MS = 2 * DAY_MS;
/** After this time a secret is compared with the store's, which may have lost it in a failover. */
const HELD_MS = 60_000;
/** Clocks of a store's servers may differ. */
const AHEAD_MS = 60_000;

export interface OidcAttempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE; its digest is the challenge. */
  readonly verifier: string;
  /** What the browser keeps: the time of the beginning, and a random text. */
  readonly seed: string;
}

const SEED = /^(\d{13})\.[A-Za-z0-9_-]{43}$/;

interface OidcAttemptsOptions {
  readonly secrets: SharedSecrets;
  /** `false` if remembered before. Atomic; remembers for `keepMs` by the store's clock. */
  readonly remember: (id: string, keepMs: number) => Promise<boolean | StoreUnavailable>;
  /** Issuer and client: attempts at others are void. */
  readonly provider: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** Every method throws a `StoreError` if the store is away. */
export class OidcAttempts {
  readonly #options: OidcAttemptsOptions;
  #held: { readonly name: string; readonly secret: Uint8Array; readonly atMs: number } | undefined;

  constructor(options: OidcAttemptsOptions) {
    this.#options = options;
  }

  begin(): Promise<OidcAttempt> {
    const nowMs = this.#nowMs();
    return this.#attempt(`${Math.floor(nowMs)}.${randomBytes(32).toString('base64url')}`, nowMs);
  }

  /** `undefined` if it is none of ours, or none of the last ten minutes. */
  async resume(seed: string): Promise<OidcAttempt | undefined> {
    const begunAtMs = Number(SEED.exec(seed)?.[1]);
    const ageMs = this.#nowMs() - begunAtMs;
    return ageMs < ATTEMPT_MS && ageMs >= -AHEAD_MS ? this.#attempt(seed, begunAtMs) : undefined;
  }

  /** `false` if the attempt has come back before. */
  async use({ state }: OidcAttempt): Promise<boolean> {
    return answered(await this.#options.remember(hash('sha256', state, 'hex'), 2 * ATTEMPT_MS));
  }

  #nowMs(): number {
    const nowMs = this.#options.secrets.nowMs();
    if (nowMs === undefined) throw storeErrorOf({ kind: 'unavailable', cause: 'busy' });
    return nowMs;
  }

  async #attempt(seed: string, begunAtMs: number): Promise<OidcAttempt> {
    const secret = await this.#secret(`sign-ins:${Math.floor(begunAtMs / DAY_MS)}`);
    const key = Buffer.from(hkdfSync('sha256', secret, '', `lingate sign-in: ${this.#options.provider()}`, 32));
    const derived = (name: string): string => createHmac('sha256', key).update(`${name}\n${seed}`).digest('base64url');
    return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier'), seed };
  }

  /** Each UTC day has its own. */
  async #secret(name: string): Promise<Uint8Array> {
    const { secrets, now } = this.#options;
    const held = this.#held?.name === name ? this.#held : undefined;
    if (held !== undefined && now() - held.atMs < HELD_MS) return held.secret;
    const secret = answered(await secrets.agree(name, held?.secret ?? randomBytes(32), SECRET_MS));
    this.#held = { name, secret, atMs: now() };
    return secret;
  }
}
