// Whose request it is: `identify` takes the key from the fields and finds its owner in the cache; `authenticate` looks the owner
// up and, before a long body is read, has key and rate checked.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange, RequestHead } from '../core/exchange.ts';
import { andThen, LATER } from '../core/outcome.ts';
import type { Refusal, StepResult } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { CallerStep, HeadStep } from '../core/step.ts';
import { digestOf, holdsKey } from '../domain/api-key.ts';
import type { Credential, CredentialReader, KeyDigest } from '../domain/api-key.ts';
import { KEY_MALFORMED, KEY_MISPLACED, KEY_MISSING, STORE_UNAVAILABLE, tooManyRequests, UNKNOWN_KEY } from '../domain/refusals.ts';
import { TAG_HEADER } from '../domain/request-tag.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import { clientAddressSlot, keyDigestSlot, keyOwnerSlot, neededScopeSlot, NO_STATS, requestStatsSlot } from '../domain/slots.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyCache, KeyOwner, UnknownKeyLimit } from '../ports/key-directory.ts';
import type { CheckedCaller, Ledger } from '../ports/ledger.ts';
import { CallerQuestion, callerRefusal, needsMore, readWanted, sentTag, timed } from './parts/caller-question.ts';
import type { CallerQuestionOptions } from './parts/caller-question.ts';

/** Stores the key's digest, and its owner if cached, in slots for later steps. */
type Identify = (x: Exchange, credential: Credential) => Refusal | undefined;

/** Where other APIs have their keys. */
const MISTAKEN_FIELDS = ['x-api-key', 'api-key'] as const;
const RECENT_MAX = 1000;
const RECENT_MS = 1000;

export function identifyStep(credentials: CredentialReader, cache: KeyCache): HeadStep {
  /** By `Authorization`, of keys sent within about the last second: saves the pattern check and SHA-256 for bursts of requests. */
  const recent = new Map<string, KeyDigest>();
  let recentSinceMs = 0;
  return {
    kind: 'head',
    name: 'identify',
    headers: [...credentials.headers, ...MISTAKEN_FIELDS],
    run(x) {
      const { headers } = x.head;
      if (x.startedAtMs - recentSinceMs >= RECENT_MS) {
        recent.clear();
        recentSinceMs = x.startedAtMs;
      }
      // With an `Authorization` field nothing else is read, so the same value always means the same key.
      const authorization = headers['authorization'];
      const known = authorization === undefined ? undefined : recent.get(authorization);
      if (known !== undefined) return knownBy(x, known, cache);
      const credential = credentials.read(headers);
      if (credential.kind === 'missing') return isMisplaced(x.head) ? KEY_MISPLACED : KEY_MISSING;
      if (credential.kind === 'malformed') return KEY_MALFORMED;
      const digest = digestOf(credential.key);
      const refusal = knownBy(x, digest, cache);
      // Only for known keys: a flood of unknown ones would evict them from the bounded map.
      const isKnown = authorization !== undefined && x.get(keyOwnerSlot) !== undefined;
      if (isKnown && recent.size < RECENT_MAX) recent.set(authorization, digest);
      return refusal;
    },
  };
}

/** Only said to somebody who sent what looks like a key. */
function isMisplaced({ query, headers }: RequestHead): boolean {
  return holdsKey(query) || MISTAKEN_FIELDS.some((name) => holdsKey(headers[name] ?? ''));
}

export function identifyBy(cache: KeyCache): Identify {
  return (x, credential) => {
    if (credential.kind === 'missing') return KEY_MISSING;
    if (credential.kind === 'malformed') return KEY_MALFORMED;
    return knownBy(x, digestOf(credential.key), cache);
  };
}

function knownBy(x: Exchange, digest: KeyDigest, cache: KeyCache): Refusal | undefined {
  const owner = cache.peek(digest);
  if (owner === 'unknown') return UNKNOWN_KEY;
  x.set(keyDigestSlot, digest);
  x.set(requestStatsSlot, { ...NO_STATS });
  if (owner !== undefined) x.set(keyOwnerSlot, owner);
  return undefined;
}

export interface AuthenticateOptions extends CallerQuestionOptions {
  readonly ledger: Pick<Ledger, 'check'>;
  /** `undefined` puts no limit on unknown keys per address. */
  readonly bound?: UnknownKeyLimit | undefined;
  /** Called for every check that ends a request. */
  readonly onRefused: (checked: CheckedCaller, teamId: string) => void;
}

/** 503 rather than 401: the address may also send a valid key that this process has not seen yet. */
const TOO_MANY_UNKNOWN = refuse('service_unavailable', 'Too many unknown keys came from this address within a minute; try again later.');

/** The check was made. */
const checkedSlot = reserveSlot<true>('key and rate checked');

export function authenticateStep(options: AuthenticateOptions): CallerStep {
  return {
    ...authentication('authenticate', options),
    longBody: (x) => (x.get(keyOwnerSlot) === undefined ? undefined : check(x, options)),
  };
}

/** For a key that only the body contains: runs after the step that found it, in addition to `authenticate` before the body. */
export function authenticateBodyKeyStep(options: AuthenticateOptions): CallerStep {
  return authentication('authenticate-body-key', options);
}

function authentication(name: string, options: AuthenticateOptions): CallerStep {
  const { cache, now, client, bound } = options;
  return {
    kind: 'caller',
    name,
    headers: [...client.fields, TAG_HEADER],
    run(x) {
      if (x.get(keyOwnerSlot) !== undefined) return x.longBody ? check(x, options) : undefined;
      // Either a later step takes the key from the body, or every step that needs an owner reports that there is none.
      if (x.stage === 'arriving' && x.get(keyDigestSlot) === undefined) return undefined;
      // Read before anything waits, because it is gone once the caller disconnects.
      const address = bound === undefined ? '' : client.of(x);
      if (bound?.reached(address) === true) return TOO_MANY_UNKNOWN;
      const startedAtMs = now();
      const found = cache.find(x.need(keyDigestSlot));
      return andThen(found, (answer) => {
        timed(x, { startedAtMs }, options);
        return recognise(x, answer, address, options);
      });
    },
  };
}

function recognise(x: Exchange, found: KeyOwner | undefined | StoreUnavailable, address: string, options: AuthenticateOptions): StepResult {
  if (found === undefined) {
    options.bound?.add(address);
    return UNKNOWN_KEY;
  }
  if ('kind' in found) return STORE_UNAVAILABLE;
  x.set(keyOwnerSlot, found);
  return x.longBody ? check(x, options) : undefined;
}

/** Has key and rate checked, so that a long body with a revoked key, or of a throttled team, is neither kept nor parsed. */
function check(x: Exchange, options: AuthenticateOptions): StepResult {
  if (x.get(checkedSlot) !== undefined) return undefined;
  x.set(checkedSlot, true);
  const owner = x.need(keyOwnerSlot);
  const { teamId, keyId } = owner;
  readWanted(x, owner, options.client);
  const refused = options.full.refusal({ keyId, address: x.get(clientAddressSlot), scope: x.get(neededScopeSlot), tag: tagOf(x) });
  if (refused === undefined) return ask(x, options);
  options.onRefused(refused, teamId);
  return tooManyRequests(x, refused, options.rateLimitHeaders);
}

/** As far as it is known before the body; what is none is told with the faults of the body. */
function tagOf(x: Exchange): RequestTag | undefined {
  const name = sentTag(x);
  return typeof name === 'string' ? { name, distinctMax: 0 } : undefined;
}

function ask(x: Exchange, options: AuthenticateOptions): typeof LATER {
  options.ledger.check(
    new CallerQuestion<CheckedCaller>(x, tagOf(x), options.now(), (_x, asked: CallerQuestion<CheckedCaller>) =>
      conclude(x, asked, options),
    ),
  );
  return LATER;
}

function conclude(x: Exchange, asked: CallerQuestion<CheckedCaller>, options: AuthenticateOptions): StepResult {
  timed(x, asked, options);
  if (needsMore(x, asked, options)) return ask(x, options);
  const { answer, teamId } = asked;
  if (answer.kind === 'admitted') return undefined;
  options.onRefused(answer, teamId);
  return answer.kind === 'unavailable' ? STORE_UNAVAILABLE : callerRefusal(x, answer, asked, options);
}
