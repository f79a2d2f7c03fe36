// Looks up the owner of the key and, before a long body is read, has key and rate checked.
import { reserveSlot } from '../core/exchange.ts';
import type { Exchange } from '../core/exchange.ts';
import { LATER } from '../core/outcome.ts';
import type { StepResult } from '../core/outcome.ts';
import { refuse } from '../core/problem.ts';
import { throwOn } from '../core/step.ts';
import type { CallerStep } from '../core/step.ts';
import type { ClientAddressReader } from '../domain/client-address.ts';
import { ADDRESS_REFUSED, keyRevoked, rateLimited, rateLimitHeaders, STORE_UNAVAILABLE, UNKNOWN_KEY } from '../domain/refusals.ts';
import { clientAddressSlot, keyDigestSlot, keyOwnerSlot, requestStatsSlot } from '../domain/slots.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { KeyCache, KeyOwner, UnknownKeyLimit } from '../ports/key-directory.ts';
import type { AskedCheck, CheckedCaller, Ledger } from '../ports/ledger.ts';

export interface AuthenticateOptions {
  readonly cache: KeyCache;
  readonly ledger: Pick<Ledger, 'check'>;
  /** Whether answers report the rate limit. */
  readonly rateLimitHeaders: boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
  /** Reads a request's address: for the limit on unknown keys, and for keys restricted to certain addresses. */
  readonly client: ClientAddressReader;
  /** `undefined` puts no limit on unknown keys per address. */
  readonly bound?: UnknownKeyLimit | undefined;
  /** Called for every check that ends a request. */
  readonly onRefused: (checked: CheckedCaller) => void;
}

/** 503 rather than 401: the address may also send a valid key that this process has not seen yet. */
const TOO_MANY_UNKNOWN = refuse('service_unavailable', 'Too many unknown keys came from this address within a minute; try again later.');

/** The check was made, or the store offers none. */
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
    headers: client.fields,
    run(x) {
      if (x.get(keyOwnerSlot) !== undefined) return x.longBody ? check(x, options) : undefined;
      // Either a later step takes the key from the body, or every step that needs an owner reports that there is none.
      if (x.bodyDue && x.get(keyDigestSlot) === undefined) return undefined;
      // Read before anything waits, because it is gone once the caller disconnects.
      const address = bound === undefined ? '' : client.of(x);
      if (bound?.reached(address) === true) return TOO_MANY_UNKNOWN;
      const startedAtMs = now();
      const found = cache.find(x.need(keyDigestSlot));
      if (!(found instanceof Promise)) return recognise(x, found, address, options);
      return found.then((answer) => {
        x.need(requestStatsSlot).storeMs += now() - startedAtMs;
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

/** Has the store check key and rate, so that a long body with a revoked key, or of a throttled team, is neither kept nor parsed. */
function check(x: Exchange, options: AuthenticateOptions): StepResult {
  if (options.ledger.check === undefined || x.get(checkedSlot) !== undefined) return undefined;
  x.set(checkedSlot, true);
  return ask(x, options, x.need(keyOwnerSlot).addressWanted === true);
}

function ask(x: Exchange, options: AuthenticateOptions, withAddress: boolean): StepResult {
  if (withAddress) x.set(clientAddressSlot, options.client.of(x));
  options.ledger.check!(new PendingCheck(x, options, options.now()));
  return LATER;
}

class PendingCheck implements AskedCheck {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly address: string | undefined;
  readonly options: AuthenticateOptions;
  readonly startedAtMs: number;
  checked: CheckedCaller | undefined = undefined;
  readonly #x: Exchange;

  constructor(x: Exchange, options: AuthenticateOptions, startedAtMs: number) {
    const { teamId, keyId } = x.need(keyOwnerSlot);
    this.requestId = x.id;
    this.teamId = teamId;
    this.keyId = keyId;
    this.address = x.get(clientAddressSlot);
    this.options = options;
    this.startedAtMs = startedAtMs;
    this.#x = x;
  }

  answered(checked: CheckedCaller): void {
    this.checked = checked;
    this.#x.resume(conclude, this);
  }

  failed(error: unknown): void {
    this.#x.resume(throwOn, error);
  }
}

function conclude(x: Exchange, asking: PendingCheck): StepResult {
  const { options } = asking;
  const checked = asking.checked!;
  x.need(requestStatsSlot).storeMs += options.now() - asking.startedAtMs;
  if (checked.kind === 'admitted') return undefined;
  if (checked.kind === 'address_wanted' && asking.address === undefined && !x.cancelled) {
    options.cache.noteAddressWanted(x.need(keyDigestSlot));
    return ask(x, options, true);
  }
  options.onRefused(checked);
  switch (checked.kind) {
    case 'unavailable':
      return STORE_UNAVAILABLE;
    case 'key_unknown':
      options.cache.forget(x.need(keyDigestSlot));
      return UNKNOWN_KEY;
    case 'key_revoked':
      return keyRevoked(checked.reason);
    // The key is known, so this does not count as an unknown key of the address.
    case 'address_wanted':
    case 'address_refused':
      return ADDRESS_REFUSED;
    case 'rate_limited': {
      const { limit, of = 'team' } = checked;
      if (options.rateLimitHeaders) x.responseHeaders = [...x.responseHeaders, ...rateLimitHeaders(limit, 0, of)];
      x.need(requestStatsSlot).limitOf = of;
      return rateLimited(checked);
    }
  }
}
