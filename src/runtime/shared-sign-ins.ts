// Attempts to sign in at a provider: one process begins them, all know them by a shared secret.
import { randomBytes } from 'node:crypto';
import {
  ATTEMPT_MS,
  ATTEMPT_SECRET_BYTES,
  ATTEMPT_SECRET_MS,
  attemptOf,
  attemptSecretName,
  seedTimeMs,
  newSeed,
} from '../domain/sign-in-attempt.ts';
import type { SignInAttempt } from '../domain/sign-in-attempt.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { BegunAttempt, SignInAttemptSource, SignInRecords } from '../ports/identity-provider.ts';
import type { SharedSecrets } from '../ports/store.ts';

/** After this time a secret is compared with the store's, which may have lost it in a failover. */
const HELD_MS = 60_000;
const UNKNOWN_TIME: StoreUnavailable = { kind: 'unavailable', cause: 'busy' };

interface SharedSignInsOptions {
  readonly secrets: SharedSecrets;
  readonly records: SignInRecords;
  /** Issuer and client: attempts at others are void. */
  readonly provider: () => string;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

interface HeldSecret {
  readonly name: string;
  readonly secret: Uint8Array;
  readonly atMs: number;
}

export class SharedSignIns implements SignInAttemptSource {
  readonly #options: SharedSignInsOptions;
  #held: HeldSecret | undefined;

  constructor(options: SharedSignInsOptions) {
    this.#options = options;
  }

  async begin(): Promise<BegunAttempt | StoreUnavailable> {
    const nowMs = this.#options.secrets.nowMs();
    if (nowMs === undefined) return UNKNOWN_TIME;
    const stored = newSeed(nowMs, randomBytes);
    const attempt = await this.#attempt(stored, nowMs);
    return isUnavailable(attempt) ? attempt : { attempt, stored };
  }

  async resume(stored: string): Promise<SignInAttempt | undefined | StoreUnavailable> {
    const nowMs = this.#options.secrets.nowMs();
    if (nowMs === undefined) return UNKNOWN_TIME;
    const begunAtMs = seedTimeMs(stored, nowMs);
    return begunAtMs === undefined ? undefined : this.#attempt(stored, begunAtMs);
  }

  use({ state }: SignInAttempt): Promise<boolean | StoreUnavailable> {
    return this.#options.records.use(state, 2 * ATTEMPT_MS);
  }

  async #attempt(stored: string, begunAtMs: number): Promise<SignInAttempt | StoreUnavailable> {
    const secret = await this.#secret(attemptSecretName(begunAtMs));
    return isUnavailable(secret) ? secret : attemptOf(stored, secret, this.#options.provider(), begunAtMs);
  }

  async #secret(name: string): Promise<Uint8Array | StoreUnavailable> {
    const { secrets, now } = this.#options;
    const held = this.#held;
    if (held?.name === name && now() - held.atMs < HELD_MS) return held.secret;
    const candidate = held?.name === name ? held.secret : randomBytes(ATTEMPT_SECRET_BYTES);
    const secret = await secrets.agree(name, candidate, ATTEMPT_SECRET_MS);
    if (!isUnavailable(secret)) this.#held = { name, secret, atMs: now() };
    return secret;
  }
}
