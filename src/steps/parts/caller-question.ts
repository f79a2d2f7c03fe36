// What admission and check have in common: what the ledger is told of a caller, when it is asked again with more, and how a caller
// is refused.
import type { Conclude, Exchange } from '../../core/exchange.ts';
import type { Refusal } from '../../core/outcome.ts';
import { refuse } from '../../core/problem.ts';
import { throwOn } from '../../core/step.ts';
import type { CarriedFacts, KeyOwner, WantedFact } from '../../domain/api-key.ts';
import type { ClientAddressReader } from '../../domain/client-address.ts';
import { ADDRESS_REFUSED, keyRevoked, scopeMissing, TAG_DISABLED, tooManyRequests, UNKNOWN_KEY } from '../../domain/refusals.ts';
import { readTag, TAG_FAULT, TAG_FIELD, TAG_HEADER } from '../../domain/request-tag.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import { CLOSED } from '../../domain/scopes.ts';
import { clientAddressSlot, keyDigestSlot, keyOwnerSlot, neededScopeSlot, requestStatsSlot, tagSlot } from '../../domain/slots.ts';
import type { FullWindows } from '../../ports/full-windows.ts';
import type { KeyCache } from '../../ports/key-directory.ts';
import type { Callbacks, CallerCheck, CallerRefusal } from '../../ports/ledger.ts';

/** What steps that ask about a caller have in common. */
export interface CallerQuestionOptions {
  readonly cache: KeyCache;
  /** The rate windows that are known to be full. */
  readonly full: FullWindows;
  /** Reads a request's address: for keys that are restricted to certain ones, and for the limit on unknown keys. */
  readonly client: ClientAddressReader;
  /** Whether answers report the rate limit. */
  readonly rateLimitHeaders: boolean;
  /** A monotonic clock in milliseconds. */
  readonly now: () => number;
}

/** The request to the ledger, its callbacks, and the context for its answer: a single object for each. */
export class CallerQuestion<Answer> implements CallerCheck, Callbacks<Answer> {
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly address: string | undefined;
  readonly scope: string | undefined;
  readonly tag: RequestTag | undefined;
  readonly startedAtMs: number;
  /** Set before `conclude` is called. */
  answer!: Answer;
  readonly #x: Exchange;
  readonly #conclude: Conclude<never>;

  constructor(x: Exchange, tag: RequestTag | undefined, startedAtMs: number, conclude: Conclude<never>) {
    const { teamId, keyId } = x.need(keyOwnerSlot);
    this.requestId = x.id;
    this.teamId = teamId;
    this.keyId = keyId;
    this.address = x.get(clientAddressSlot);
    this.scope = x.get(neededScopeSlot);
    this.tag = tag;
    this.startedAtMs = startedAtMs;
    this.#x = x;
    this.#conclude = conclude;
  }

  answered(answer: Answer): void {
    this.answer = answer;
    this.#x.resume(this.#conclude as Conclude<this>, this);
  }

  failed(error: unknown): void {
    this.#x.resume(throwOn, error);
  }
}

/** Whether the ledger is to be asked again, now with the address or the scope, because the key turned out to be restricted by it. */
export function needsMore(
  x: Exchange,
  asked: CarriedFacts & { readonly answer: { readonly kind: string } },
  options: CallerQuestionOptions,
): boolean {
  const wanted = x.cancelled ? undefined : wantedBy(asked.answer.kind, asked);
  if (wanted === undefined) return false;
  options.cache.noteWanted(x.need(keyDigestSlot), wanted);
  readWanted(x, { [wanted]: true }, options.client);
  return true;
}

/** Adds the time that the ledger took; returns the time now. */
export function timed(x: Exchange, { startedAtMs }: { readonly startedAtMs: number }, { now }: CallerQuestionOptions): number {
  const nowMs = now();
  x.need(requestStatsSlot).storeMs += nowMs - startedAtMs;
  return nowMs;
}

/** The refusal of a caller, whatever was asked. */
export function callerRefusal(
  x: Exchange,
  refused: CallerRefusal,
  asked: CallerCheck & { readonly startedAtMs: number },
  options: CallerQuestionOptions,
): Refusal {
  switch (refused.kind) {
    case 'key_unknown':
      options.cache.forget(x.need(keyDigestSlot));
      return UNKNOWN_KEY;
    case 'key_revoked':
      return keyRevoked(refused.reason);
    // The key is known, so this does not count as an unknown key of the address.
    case 'address_wanted':
    case 'address_refused':
      return ADDRESS_REFUSED;
    case 'scope_wanted':
    case 'scope_missing':
      return scopeMissing(x.route.scope ?? CLOSED);
    case 'tag_disabled':
      return TAG_DISABLED;
    case 'rate_limited':
      options.full.note(asked, refused, asked.startedAtMs);
      return tooManyRequests(x, refused, options.rateLimitHeaders);
  }
}

/** Reads what is known to be wanted. Call it before anything waits: the address is gone once the caller disconnects. */
export function readWanted(x: Exchange, owner: Pick<KeyOwner, WantedFact>, client: ClientAddressReader): void {
  if (owner.addressWanted === true) x.set(clientAddressSlot, client.of(x));
  if (owner.scopeWanted === true) x.set(neededScopeSlot, x.route.scope ?? CLOSED);
}

/** What to send in addition, after this answer to a request with these facts. */
function wantedBy(kind: string, { address, scope }: CarriedFacts): WantedFact | undefined {
  if (kind === 'address_wanted' && address === undefined) return 'addressWanted';
  return kind === 'scope_wanted' && scope === undefined ? 'scopeWanted' : undefined;
}

/** In lower case; a refusal if it is none. */
export function sentTag(x: Exchange): string | Refusal | undefined {
  const text = x.head.headers[TAG_HEADER];
  const named = x.get(tagSlot);
  let [tag, field] = [text === undefined ? undefined : readTag(text), TAG_FIELD];
  if (tag === undefined && named !== undefined) [tag, field] = [readTag(named.text), named.field];
  return tag === null ? refuse('validation_error', `${field}: ${TAG_FAULT}.`) : tag;
}
