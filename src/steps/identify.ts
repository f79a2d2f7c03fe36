// Takes the key from the request's fields, checks its pattern, and looks up its owner in the cache only.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import type { HeadStep } from '../core/step.ts';
import { digestOf } from '../domain/api-key.ts';
import type { KeyDigest } from '../domain/api-key.ts';
import type { Credential, CredentialReader } from '../domain/credentials.ts';
import { keyDigestSlot, keyOwnerSlot, newRequestStats, requestStatsSlot } from '../domain/slots.ts';
import { KEY_MALFORMED, KEY_MISSING, UNKNOWN_KEY } from '../domain/refusals.ts';
import type { KeyCache } from '../ports/key-directory.ts';

/** Stores the key's digest, and its owner if cached, in slots for later steps. */
export type Identify = (x: Exchange, credential: Credential) => Refusal | undefined;

export function identifyStep(credentials: CredentialReader, cache: KeyCache): HeadStep {
  const recent = new RecentDigests();
  return {
    kind: 'head',
    name: 'identify',
    headers: credentials.headers,
    run(x) {
      const { headers } = x.head;
      // With an `Authorization` field nothing else is read, so the same value always means the same key.
      const authorization = headers['authorization'];
      const known = authorization === undefined ? undefined : recent.get(authorization, x.startedAtMs);
      if (known !== undefined) return recognise(x, known, cache);
      const credential = credentials.read(headers);
      if (credential.kind !== 'key') return credential.kind === 'missing' ? KEY_MISSING : KEY_MALFORMED;
      const digest = digestOf(credential.key);
      const refusal = recognise(x, digest, cache);
      // Only for known keys: a flood of unknown ones would evict them from the bounded map.
      if (authorization !== undefined && x.get(keyOwnerSlot) !== undefined) recent.set(authorization, digest);
      return refusal;
    },
  };
}

export function identifyBy(cache: KeyCache): Identify {
  return (x, credential) => {
    if (credential.kind === 'missing') return KEY_MISSING;
    if (credential.kind === 'malformed') return KEY_MALFORMED;
    return recognise(x, digestOf(credential.key), cache);
  };
}

function recognise(x: Exchange, digest: KeyDigest, cache: KeyCache): Refusal | undefined {
  const owner = cache.peek(digest);
  if (owner === 'unknown') return UNKNOWN_KEY;
  x.set(keyDigestSlot, digest);
  x.set(requestStatsSlot, newRequestStats());
  if (owner !== undefined) x.set(keyOwnerSlot, owner);
  return undefined;
}

const RECENT_MAX = 1000;
const RECENT_MS = 1000;

/** Digests of keys sent within about the last second: saves the pattern check and SHA-256 for bursts of requests. */
class RecentDigests {
  readonly #digests = new Map<string, KeyDigest>();
  #sinceMs = 0;

  get(authorization: string, nowMs: number): KeyDigest | undefined {
    if (nowMs - this.#sinceMs >= RECENT_MS) {
      this.#digests.clear();
      this.#sinceMs = nowMs;
    }
    return this.#digests.get(authorization);
  }

  set(authorization: string, digest: KeyDigest): void {
    if (this.#digests.size < RECENT_MAX) this.#digests.set(authorization, digest);
  }
}
