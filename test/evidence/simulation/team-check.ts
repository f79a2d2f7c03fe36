// One team's account as a checker tracks it, from the store's answers alone: reports answers that cannot be right.
import { isDeepStrictEqual } from 'node:util';
import { dayOf } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import type { RefusedCaller } from '../../../src/ports/full-windows.ts';
import type { Admission, AdmissionRequest, RateLimited } from '../../../src/ports/ledger.ts';
import type { Action, Entry, Violate } from './entries.ts';
import { KeyCheck } from './key-check.ts';
import { rateFault } from './rate-check.ts';
import type { Place } from './rate-check.ts';

export interface IdState {
  state: 'open' | 'committed' | 'released' | 'expired';
  /** As reserved; once it is committed, as charged. */
  characters: number;
  priceMicro: number;
  readonly keyId: string;
  readonly reservedAtStoreMs: number;
  readonly leaseUntilMs: number;
  /** The day of the store's clock on which it was committed. */
  committedOn?: number;
}

type Resolved = Extract<Action, { readonly kind: 'resolve' }>;

/** Answers to a key that is barred. */
const BARRED: ReadonlySet<Admission['kind']> = new Set([
  'key_revoked',
  'address_wanted',
  'address_refused',
  'scope_wanted',
  'scope_missing',
]);

export class TeamCheck {
  readonly ids = new Map<string, IdState>();
  readonly #keys = new Map<string, KeyCheck>();
  readonly lastUseMs = new Map<string, number>();
  #limits: TeamLimits | undefined;
  #raisedAtMs = -Infinity;
  #creditMicro = 0;
  readonly #places: Place[] = [];
  /** When the store's clock last jumped, in true time: earlier slots prove nothing any more. */
  readonly #clockChangedAtMs: () => number;

  constructor(clockChangedAtMs: () => number) {
    this.#clockChangedAtMs = clockChangedAtMs;
  }

  take(entry: Entry, violate: Violate): void {
    const { action } = entry;
    switch (action.kind) {
      case 'team':
        if (action.limits.requestsPerSecond > (this.#limits?.requestsPerSecond ?? Infinity)) this.#raisedAtMs = entry.atMs;
        this.#limits = action.limits;
        this.#creditMicro += action.addMicro;
        return;
      case 'create_key':
        return this.key(action.keyId).change({ limits: action.limits }, entry.atMs);
      case 'update_key':
        return this.key(action.keyId).change(action.change, entry.atMs);
      case 'revoke_key':
        return this.key(action.keyId).revoke(entry.atMs);
      case 'resolve':
        return this.#resolved(action, entry, violate);
      case 'admit':
        return this.#admitted(action.request, action.answer, entry, violate);
    }
  }

  hasKey(keyId: string): boolean {
    return this.#keys.has(keyId);
  }

  /** What is wrong with a refusal that a gateway repeated, if anything: it may miss what was changed after `sinceMs`, in true time. */
  repetitionFault({ keyId, ...from }: RefusedCaller, refused: RateLimited, storeMs: number, sinceMs: number): string | undefined {
    const key = this.key(keyId);
    if (Math.max(this.#raisedAtMs, key.changedAtMs) >= sinceMs) return undefined;
    const barred = key.barred(from, storeMs);
    if (barred !== undefined) return `would be told ${wordsOf(barred)}`;
    const [places, rate] =
      refused.of === 'key' ? [key.places, key.limits.requestsPerSecond] : [this.#places, this.#limits?.requestsPerSecond];
    if (rate === undefined || rate > refused.limit) return `has a limit of ${rate}, and was told ${refused.limit}`;
    return rateFault(places, rate, true, { storeMs }, this.#clockChangedAtMs());
  }

  key(keyId: string): KeyCheck {
    let key = this.#keys.get(keyId);
    if (key === undefined) this.#keys.set(keyId, (key = new KeyCheck()));
    return key;
  }

  /** What was charged to reservations made since a moment of the store's. */
  charged(sinceStoreMs = -Infinity): { characters: number; micro: number } {
    const ids = [...this.ids.values()].filter((id) => id.state === 'committed' && id.reservedAtStoreMs >= sinceStoreMs);
    return { characters: sum(ids.map((id) => id.characters)), micro: sum(ids.map((id) => id.priceMicro)) };
  }

  /** What was charged, by day and key: `[characters, requests]`. */
  chargedByDay(): ReadonlyMap<string, readonly [number, number]> {
    const charged = new Map<string, readonly [number, number]>();
    for (const { committedOn, keyId, characters } of this.ids.values()) {
      if (committedOn === undefined) continue;
      const name = dayName(committedOn, keyId);
      const [before, requests] = charged.get(name) ?? [0, 0];
      charged.set(name, [before + characters, requests + 1]);
    }
    return charged;
  }

  get balanceMicro(): number {
    return this.#creditMicro - this.charged().micro;
  }

  #resolved({ requestId, answer, characters }: Resolved, entry: Entry, violate: Violate): void {
    const known = this.ids.get(requestId);
    if (answer.kind === 'unavailable') return;
    if (known === undefined) {
      if (answer.kind === 'committed' || answer.kind === 'expired')
        violate('L4', `${requestId}, which reserved nothing, is ${answer.kind}`);
      return;
    }
    if (known.state !== 'open') {
      if (answer.kind !== 'absent' && answer.kind !== known.state)
        violate('L4', `${requestId} was ${known.state} and is ${answer.kind} now`);
      return;
    }
    if (answer.kind === 'absent') return violate('L4', `${requestId} is open and was not found`);
    if (answer.kind !== 'expired' && entry.storeMs >= known.leaseUntilMs && entry.atMs - this.#clockChangedAtMs() > 5000) {
      violate('L4', `${requestId} was ${answer.kind} ${entry.storeMs - known.leaseUntilMs} ms after its lease`);
    }
    known.state = answer.kind;
    if (answer.kind !== 'committed') return;
    known.committedOn = dayOf(entry.storeMs);
    if (characters === undefined) return;
    known.priceMicro = known.characters === 0 ? 0 : (known.priceMicro / known.characters) * characters;
    known.characters = characters;
  }

  #admitted(request: AdmissionRequest, answer: Admission, entry: Entry, violate: Violate): void {
    const { requestId, keyId } = request;
    if (this.ids.get(requestId)?.state === 'open' && answer.kind === 'admitted') return;
    const limits = this.#limits;
    if (limits === undefined || answer.kind === 'unavailable' || answer.kind === 'repeated' || answer.kind === 'key_unknown') return;
    const key = this.key(keyId);
    const barred = key.barred(request, entry.storeMs);
    const told = BARRED.has(answer.kind) ? answer : undefined;
    if (!isDeepStrictEqual(told, barred)) violate('L7', `${requestId}, for which ${wordsOf(barred)} stands, was told ${wordsOf(answer)}`);
    // Nothing is consumed, no use is recorded.
    if (told !== undefined) return;
    this.lastUseMs.set(keyId, Math.max(this.lastUseMs.get(keyId) ?? 0, entry.storeMs));
    this.#checkRates(requestId, limits.requestsPerSecond, key, answer, entry, violate);
    if (answer.kind === 'rate_limited') return;
    const place = { atMs: entry.atMs, storeMs: entry.storeMs };
    this.#places.push(place);
    key.taken(place);
    if (answer.kind !== 'admitted' && answer.kind !== 'quota_exceeded' && answer.kind !== 'credit_exhausted') return;
    if (!request.reserve) return;
    this.#checkBooks(request, answer, limits, entry, violate);
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const { characters, leaseUntilMs } = answer.reservation;
    const priceMicro = limits.billing === 'credit' ? characters * limits.minorPerMillion : 0;
    this.ids.set(requestId, { state: 'open', characters, priceMicro, keyId, reservedAtStoreMs: entry.storeMs, leaseUntilMs });
  }

  /** The team's first, then the key's: a request refused by one took a slot in neither. */
  #checkRates(requestId: string, teamRate: number, key: KeyCheck, answer: Admission, entry: Entry, violate: Violate): void {
    const refused = answer.kind === 'rate_limited';
    const byKey = refused && answer.of === 'key';
    const keyRate = key.limits.requestsPerSecond;
    const told = refused ? answer.limit : undefined;
    if (refused && told !== (byKey ? keyRate : teamRate)) violate('L6', `${requestId} was told a limit of ${told} that is nobody's`);
    const fault =
      rateFault(this.#places, teamRate, refused && !byKey, entry, this.#clockChangedAtMs()) ??
      (keyRate === undefined || (refused && !byKey) ? undefined : rateFault(key.places, keyRate, byKey, entry, this.#clockChangedAtMs()));
    if (fault !== undefined) violate('L6', `${requestId} ${fault}`);
  }

  /** A reservation is made exactly when what is left covers it. Periods that roll over are tested by the store contract. */
  #checkBooks(request: AdmissionRequest, answer: Admission, limits: TeamLimits, entry: Entry, violate: Violate): void {
    if (!limits.period.endsWith('M') || entry.atMs - this.#clockChangedAtMs() < 60_000) return;
    const characters = request.characters ?? 0;
    const held = [...this.ids.values()].filter((id) => id.state === 'open' && id.leaseUntilMs > entry.storeMs);
    const byKey = answer.kind === 'quota_exceeded' && answer.of === 'key';
    const ofKey = this.key(request.keyId).limits.characters;
    const charged = [...this.ids.values()].filter((id) => id.state === 'committed');
    const usedByKey = sum([...charged, ...held].filter(({ keyId }) => keyId === request.keyId).map((id) => id.characters));
    if (usedByKey + characters <= (ofKey ?? Infinity) === byKey) {
      violate('L3', `${request.requestId} for ${characters} was told ${wordsOf(answer)}: its key has used ${usedByKey} of ${ofKey}`);
    }
    if (byKey) return;
    const reserved = answer.kind === 'admitted';
    const fits =
      limits.billing === 'quota'
        ? this.charged().characters + sum(held.map((id) => id.characters)) + characters <= limits.characterLimit + limits.overageCharacters
        : sum(held.map((id) => id.priceMicro)) + characters * limits.minorPerMillion <= this.balanceMicro;
    if (fits !== reserved)
      violate('L3', `${request.requestId} for ${characters} was ${reserved ? 'reserved beyond' : 'refused within'} what is left`);
  }
}

function wordsOf(answer: Admission | undefined): string {
  return answer === undefined ? 'nothing' : JSON.stringify(answer);
}

export function dayName(day: number, keyId: string): string {
  return `day ${day} of key ${keyId}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
