// Whose request it is: `identify` takes the key from the fields and finds its owner in the cache;
// `authenticate` looks the owner up and, before a long body is read, has key and rate checked. And
// what that check has in common with the admission: what the ledger is sent of a caller, when it is
// asked again with more, and how a caller is refused.
import { reserveSlot, throwOn } from '../core/exchange.ts';
import type { Exchange, RequestHead, Conclude } from '../core/exchange.ts';
import { andThen, LATER } from '../core/outcome.ts';
import type { Refusal, StepResult } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import type { CallerStep, HeadStep } from '../core/pipeline.ts';
import { digestOf, holdsKey } from '../domain/api-key.ts';
import type { Credential, CredentialReader, CarriedFacts, KeyOwner, RequiredFact } from '../domain/api-key.ts';
import {
  KEY_MALFORMED,
  KEY_MISPLACED,
  KEY_MISSING,
  STORE_UNAVAILABLE,
  tooManyRequests,
  UNKNOWN_KEY,
  ADDRESS_REFUSED,
  keyRevoked,
  scopeMissing,
  TAG_DISABLED,
} from '../domain/refusals.ts';
import { TAG_HEADER, readTag, TAG_FAULT, TAG_FIELD } from '../domain/request-tag.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import { clientAddressSlot, keyDigestSlot, keyOwnerSlot, neededScopeSlot, NO_STATS, requestStatsSlot, tagSlot } from '../domain/slots.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { FullWindows, KeyCache, UnknownKeyLimit } from '../ports/key-directory.ts';
import type { CheckedCaller, Ledger, Callbacks, CallerCheck, CallerRefusal } from '../ports/ledger.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import { CLOSED } from '../domain/scopes.ts';

/** Stores the key's digest, and its owner if cached, in slots for later steps. */
type Identify = (x: Exchange, credential: Credential) => Refusal | undefined;

/** Where other APIs have their keys. */
const MISTAKEN_FIELDS = ['x-api-key', 'api-key'] as const;

export function identifyStep(credentials: CredentialReader, cache: KeyCache): HeadStep {
  const identify = identifyBy(cache);
  return {
    kind: 'head',
    name: 'identify',
    headers: [...credentials.headers, ...MISTAKEN_FIELDS],
    run(x) {
      const credential = credentials.read(x.head.headers);
      return credential.kind === 'missing' && isMisplaced(x.head) ? KEY_MISPLACED : identify(x, credential);
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
    const digest = digestOf(credential.key);
    const owner = cache.peek(digest);
    if (owner === 'unknown') return UNKNOWN_KEY;
    x.set(keyDigestSlot, digest);
    x.set(requestStatsSlot, { ...NO_STATS });
    if (owner !== undefined) x.set(keyOwnerSlot, owner);
    return undefined;
  };
}

export interface AuthenticateOptions extends CallerQuestionOptions {
  readonly ledger: Pick<Ledger, 'check'>;
  /** `undefined` puts no limit on unknown keys per address. */
  readonly bound?: UnknownKeyLimit | undefined;
  /** Called for every check that ends a request. */
  readonly onRefused: (checked: CheckedCaller, teamId: string) => void;
}

/** Not 401: the address may also send a valid key that this process has not seen yet. */
const TOO_MANY_UNKNOWN = refuse('service_unavailable', 'Too many unknown keys came from this address within a minute; try again later.');

/** The check was made. */
const checkedSlot = reserveSlot<true>('key and rate checked');

export function authenticateStep(options: AuthenticateOptions): CallerStep {
  return {
    ...authentication('authenticate', options),
    longBody: (x) => (x.get(keyOwnerSlot) === undefined ? undefined : check(x, options)),
  };
}

/** For a key that only the body contains: after the step that found it. */
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
      // A later step takes the key from the body, or reports that there is no owner.
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

/** Before a long body with a revoked key, or of a throttled team, is collected. */
function check(x: Exchange, options: AuthenticateOptions): StepResult {
  if (x.get(checkedSlot) !== undefined) return undefined;
  x.set(checkedSlot, true);
  const owner = x.need(keyOwnerSlot);
  const { teamId, keyId } = owner;
  readRequired(x, owner, options.client);
  const refused = options.full.refusal({ keyId, address: x.get(clientAddressSlot), scope: x.get(neededScopeSlot), tag: tagOf(x) });
  if (refused === undefined) return ask(x, options);
  options.onRefused(refused, teamId);
  return tooManyRequests(x, refused, options.rateLimitHeaders);
}

/** As far as known before the body; an invalid one is reported with the body's faults. */
function tagOf(x: Exchange): RequestTag | undefined {
  const name = sentTag(x);
  return typeof name === 'string' ? { name, distinctMax: 0 } : undefined;
}

function ask(x: Exchange, options: AuthenticateOptions): typeof LATER {
  const question = questionAbout(x, tagOf(x), options.now());
  options.ledger.check({ ...question, ...whenAnswered<CheckedCaller>(x, (_x, answer) => conclude(x, answer, question, options)) });
  return LATER;
}

function conclude(x: Exchange, answer: CheckedCaller, question: CallerQuestion, options: AuthenticateOptions): StepResult {
  timed(x, question, options);
  if (needsMore(x, answer, question, options)) return ask(x, options);
  if (answer.kind === 'admitted') return undefined;
  options.onRefused(answer, question.teamId);
  return answer.kind === 'unavailable' ? STORE_UNAVAILABLE : callerRefusal(x, answer, question, options);
}

/** What steps that ask about a caller have in common. */
export interface CallerQuestionOptions {
  readonly cache: KeyCache;
  /** The rate windows that are known to be full. */
  readonly full: FullWindows;
  /** Of a request: for keys restricted by address, and the limit on unknown keys. */
  readonly client: ClientAddressReader;
  /** Whether answers report the rate limit. */
  readonly rateLimitHeaders: boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** What the ledger is sent about a caller. */
export interface CallerQuestion extends CallerCheck {
  readonly startedAtMs: number;
}

export function questionAbout(x: Exchange, tag: RequestTag | undefined, startedAtMs: number): CallerQuestion {
  const { teamId, keyId } = x.need(keyOwnerSlot);
  return { requestId: x.id, teamId, keyId, address: x.get(clientAddressSlot), scope: x.get(neededScopeSlot), tag, startedAtMs };
}

/** Goes on with the chain. */
export function whenAnswered<Answer>(x: Exchange, goOn: Conclude<Answer>): Callbacks<Answer> {
  return { answered: (answer) => x.resume(goOn, answer), failed: (error) => x.resume(throwOn, error) };
}

/** Whether to ask again, with the address or scope that the key turned out to require. */
export function needsMore(x: Exchange, answer: { readonly kind: string }, asked: CarriedFacts, options: CallerQuestionOptions): boolean {
  const required = x.cancelled ? undefined : requiredBy(answer.kind, asked);
  if (required === undefined) return false;
  options.cache.noteRequired(x.need(keyDigestSlot), required);
  readRequired(x, { [required]: true }, options.client);
  return true;
}

/** Adds the time that the ledger took; returns the time now. */
export function timed(x: Exchange, { startedAtMs }: { readonly startedAtMs: number }, { now }: CallerQuestionOptions): number {
  const nowMs = now();
  x.need(requestStatsSlot).storeMs += nowMs - startedAtMs;
  return nowMs;
}

/** The refusal of a caller, whatever was asked. */
export function callerRefusal(x: Exchange, refused: CallerRefusal, asked: CallerQuestion, options: CallerQuestionOptions): Refusal {
  switch (refused.kind) {
    case 'key_unknown':
      options.cache.forget(x.need(keyDigestSlot));
      return UNKNOWN_KEY;
    case 'key_revoked':
      return keyRevoked(refused.reason);
    // The key is known, so this does not count as an unknown key of the address.
    case 'address_required':
    case 'address_refused':
      return ADDRESS_REFUSED;
    case 'scope_required':
    case 'scope_missing':
      return scopeMissing(x.route.scope ?? CLOSED);
    case 'tag_disabled':
      return TAG_DISABLED;
    case 'rate_limited':
      options.full.note(asked, refused, asked.startedAtMs);
      return tooManyRequests(x, refused, options.rateLimitHeaders);
  }
}

/** Reads what is required. Before any wait: the address is gone once the caller disconnects. */
export function readRequired(x: Exchange, owner: Pick<KeyOwner, RequiredFact>, client: ClientAddressReader): void {
  if (owner.addressRequired === true) x.set(clientAddressSlot, client.of(x));
  if (owner.scopeRequired === true) x.set(neededScopeSlot, x.route.scope ?? CLOSED);
}

/** What to send in addition, after this answer to a request with these facts. */
function requiredBy(kind: string, { address, scope }: CarriedFacts): RequiredFact | undefined {
  if (kind === 'address_required' && address === undefined) return 'addressRequired';
  return kind === 'scope_required' && scope === undefined ? 'scopeRequired' : undefined;
}

/** In lower case; a refusal if it is none. */
export function sentTag(x: Exchange): string | Refusal | undefined {
  const text = x.head.headers[TAG_HEADER];
  const named = x.get(tagSlot);
  let [tag, field] = [text === undefined ? undefined : readTag(text), TAG_FIELD];
  if (tag === undefined && named !== undefined) [tag, field] = [readTag(named.text), named.field];
  return tag === null ? refuse('validation_error', `${field}: ${TAG_FAULT}.`) : tag;
}
