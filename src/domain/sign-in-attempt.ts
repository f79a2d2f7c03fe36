// One attempt to sign in at a provider, and why a sign-in is refused. Its state, nonce and PKCE
// verifier are derived from a seed, which the browser keeps in a cookie, and a secret that the
// processes of a store share: so every process recognizes it, and nobody else can make one.
import { createHmac, hash, hkdfSync } from 'node:crypto';

/** From the redirect to the provider until the browser is back. */
export const ATTEMPT_MS = 600_000;
/** How long a secret is needed: the rest of its day, and the last attempt, with a margin. */
export const ATTEMPT_SECRET_MS = 172_800_000;
export const ATTEMPT_SECRET_BYTES = 32;
const DAY_MS = 86_400_000;
/** Clocks of a store's servers may differ. */
const AHEAD_MS = 60_000;
const SEED_BYTES = 32;

export interface SignInAttempt {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE; its digest is the challenge. */
  readonly verifier: string;
  /** By the store's clock. */
  readonly begunAtMs: number;
}

const SEED = /^(\d{13})\.[A-Za-z0-9_-]{43}$/;

/** What the browser keeps: the time and a seed. `random` returns random bytes. */
export function newSeed(nowMs: number, random: (size: number) => Uint8Array): string {
  return `${Math.floor(nowMs)}.${Buffer.from(random(SEED_BYTES)).toString('base64url')}`;
}

/** When the attempt was begun; `undefined` if it is none, or none of the last ten minutes. */
export function seedTimeMs(seed: string, nowMs: number): number | undefined {
  const atMs = Number(SEED.exec(seed)?.[1] ?? Number.NaN);
  return nowMs - atMs < ATTEMPT_MS && atMs - nowMs <= AHEAD_MS ? atMs : undefined;
}

/** Each UTC day has its own secret. */
export function attemptSecretName(begunAtMs: number): string {
  return `sign-ins:${Math.floor(begunAtMs / DAY_MS)}`;
}

/** `provider` names issuer and client: attempts at one are none at another. */
export function attemptOf(seed: string, secret: Uint8Array, provider: string, begunAtMs: number): SignInAttempt {
  const key = Buffer.from(hkdfSync('sha256', secret, '', `lingate sign-in: ${provider}`, 32));
  const derived = (name: string): string => createHmac('sha256', key).update(`${name}\n${seed}`).digest('base64url');
  return { state: derived('state'), nonce: derived('nonce'), verifier: derived('verifier'), begunAtMs };
}

/** Under which the state is remembered once it was used: of no use for guessing it. */
export function usedStateId(state: string): string {
  return hash('sha256', state, 'hex');
}

/** In the audit, as they are. */
export type SignInRefusal =
  | ProviderRefusal['refused']
  /** Not a token of the configuration. */
  | 'wrong_token'
  /** No attempt of this browser that is at most ten minutes old. */
  | 'wrong_state'
  /** The attempt has come back before. */
  | 'used_before'
  /** In none of the groups with a role. */
  | 'no_group'
  | 'store_away';

export interface ProviderRefusal {
  readonly refused:
    | 'provider_away'
    /** The person, or the provider for them, has declined. */
    | 'declined'
    /** The answer names another issuer. */
    | 'wrong_issuer'
    /** The code is unknown, used or expired. */
    | 'wrong_code'
    /** The provider does not accept `client_id` or `client_secret`. */
    | 'wrong_client'
    /** The provider's own error, or an answer that is against the standard. */
    | 'provider_error'
    /** The ID token fails a check. */
    | 'wrong_id_token'
    /** There is no claim with groups. */
    | 'no_claim';
  /** For the log: words of ours, or of the standard. */
  readonly detail: string;
}
