// Takes the key from the request's fields, checks its pattern, and recognises it if it was seen before. Asks nobody.
import type { Exchange } from '../core/exchange.ts';
import type { Refusal } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { HeadStep } from '../core/step.ts';
import { digestOf } from '../domain/api-key.ts';
import type { Credential, CredentialReader } from '../domain/credentials.ts';
import { keyDigestSlot, keyOwnerSlot, newRequestStats, requestStatsSlot } from '../domain/slots.ts';
import { UNKNOWN_KEY } from '../domain/refusals.ts';
import type { KeyCache } from '../ports/key-directory.ts';

const MISSING = refuse('unauthorized', 'No API key was sent. Send it as "Authorization: Bearer <key>".');
const MALFORMED = refuse(
  'unauthorized',
  'The API key is malformed: la_live_ or la_test_ and 40 letters or digits, sent as "Authorization: Bearer <key>".',
);

/** Leaves what the steps behind it need to know of whose key it is. */
export type Identify = (x: Exchange, credential: Credential) => Refusal | undefined;

export function identifyStep(credentials: CredentialReader, cache: KeyCache): HeadStep {
  const identify = identifyBy(cache);
  return {
    kind: 'head',
    name: 'identify',
    headers: credentials.headers,
    run: (x) => identify(x, credentials.read(x.head.headers)),
  };
}

export function identifyBy(cache: KeyCache): Identify {
  return (x, credential) => {
    if (credential.kind === 'missing') return MISSING;
    if (credential.kind === 'malformed') return MALFORMED;
    const digest = digestOf(credential.key);
    const owner = cache.peek(digest);
    if (owner === 'unknown') return UNKNOWN_KEY;
    x.set(keyDigestSlot, digest);
    x.set(requestStatsSlot, newRequestStats());
    if (owner !== undefined) x.set(keyOwnerSlot, owner);
    return undefined;
  };
}
