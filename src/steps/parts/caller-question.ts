// One form for what the ledger is asked about a caller, an admission or a check: asked again with the address or the scope if the
// key turns out to be restricted by them, and refused alike.
import type { Exchange } from '../../core/exchange.ts';
import { LATER } from '../../core/outcome.ts';
import type { Refusal, StepResult } from '../../core/outcome.ts';
import { throwOn } from '../../core/step.ts';
import type { ClientAddressReader } from '../../domain/client-address.ts';
import { ADDRESS_REFUSED, keyRevoked, scopeMissing, TAG_DISABLED, tooManyRequests, UNKNOWN_KEY } from '../../domain/refusals.ts';
import type { RequestTag } from '../../domain/request-tag.ts';
import { CLOSED } from '../../domain/scopes.ts';
import { clientAddressSlot, keyDigestSlot, keyOwnerSlot, neededScopeSlot, requestStatsSlot } from '../../domain/slots.ts';
import { readWanted, wantedBy } from '../../domain/wanted-facts.ts';
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

/** A single object for each: the request to the ledger, its callbacks, and the context for its answer. `ask` asks; call it once. */
export abstract class CallerQuestion<Answer extends { readonly kind: string }, Options extends CallerQuestionOptions>
  implements CallerCheck, Callbacks<Answer>
{
  readonly requestId: string;
  readonly teamId: string;
  readonly keyId: string;
  readonly address: string | undefined;
  readonly scope: string | undefined;
  abstract readonly tag: RequestTag | undefined;
  readonly options: Options;
  readonly startedAtMs: number;
  readonly #x: Exchange;
  #answer: Answer | undefined = undefined;

  constructor(x: Exchange, options: Options) {
    const { teamId, keyId } = x.need(keyOwnerSlot);
    this.requestId = x.id;
    this.teamId = teamId;
    this.keyId = keyId;
    this.address = x.get(clientAddressSlot);
    this.scope = x.get(neededScopeSlot);
    this.options = options;
    this.startedAtMs = options.now();
    this.#x = x;
  }

  ask(): StepResult {
    this.put();
    return LATER;
  }

  answered(answer: Answer): void {
    this.#answer = answer;
    this.#x.resume(conclude, this);
  }

  failed(error: unknown): void {
    this.#x.resume(throwOn, error);
  }

  conclude(x: Exchange): StepResult {
    const { options } = this;
    const answer = this.#answer!;
    const nowMs = options.now();
    x.need(requestStatsSlot).storeMs += nowMs - this.startedAtMs;
    this.heard(x, answer, nowMs);
    const wanted = wantedBy(answer.kind, this);
    if (wanted === undefined || x.cancelled) return this.decide(x, answer);
    options.cache.noteWanted(x.need(keyDigestSlot), wanted);
    readWanted(x, { [wanted]: true }, options.client);
    return this.again(x).ask();
  }

  /** The refusal of a caller, whatever was asked. */
  protected callerRefusal(x: Exchange, refused: CallerRefusal): Refusal {
    const { options } = this;
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
        options.full.note(this, refused, this.startedAtMs);
        return tooManyRequests(x, refused, options.rateLimitHeaders);
    }
  }

  /** Puts the question to the ledger. */
  protected abstract put(): void;
  /** Called for every answer, also for one after which the ledger is asked again. */
  protected heard(_x: Exchange, _answer: Answer, _nowMs: number): void {}
  /** The same question with what the exchange has by now. */
  protected abstract again(x: Exchange): CallerQuestion<Answer, Options>;
  /** What the answer means for the request. */
  protected abstract decide(x: Exchange, answer: Answer): StepResult;
}

function conclude(x: Exchange, asked: { conclude(x: Exchange): StepResult }): StepResult {
  return asked.conclude(x);
}
