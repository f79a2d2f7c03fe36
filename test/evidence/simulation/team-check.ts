// One team's books as a checker keeps them, from the store's answers alone: says where an answer cannot be right.
import { dayOf } from '../../../src/domain/period.ts';
import type { TeamLimits } from '../../../src/domain/plan.ts';
import { RATE_WINDOW_MS } from '../../../src/domain/reservation.ts';
import type { Admission, AdmissionRequest } from '../../../src/ports/ledger.ts';
import type { Deed, Entry, Violate } from './entries.ts';

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

type Resolved = Extract<Deed, { readonly kind: 'resolve' }>;

interface Place {
  readonly atMs: number;
  readonly storeMs: number;
}

const PLACELESS: ReadonlySet<Admission['kind']> = new Set(['repeated', 'key_unknown', 'key_revoked', 'rate_limited', 'unavailable']);

export class TeamCheck {
  readonly ids = new Map<string, IdState>();
  readonly #revoked = new Set<string>();
  readonly lastUseMs = new Map<string, number>();
  #limits: TeamLimits | undefined;
  #creditMicro = 0;
  readonly #places: Place[] = [];
  /** When the store's clock last jumped, in true time: places before it say nothing certain any more. */
  readonly #clockChangedAtMs: () => number;

  constructor(clockChangedAtMs: () => number) {
    this.#clockChangedAtMs = clockChangedAtMs;
  }

  take(entry: Entry, violate: Violate): void {
    const { deed } = entry;
    switch (deed.kind) {
      case 'team':
        this.#limits = deed.limits;
        this.#creditMicro += deed.addMicro;
        return;
      case 'create_key':
        return;
      case 'revoke_key':
        this.#revoked.add(deed.keyId);
        return;
      case 'resolve':
        return this.#resolved(deed, entry, violate);
      case 'admit':
        return this.#admitted(deed.request, deed.answer, entry, violate);
    }
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
    if (this.#revoked.has(keyId) !== (answer.kind === 'key_revoked')) {
      violate('L7', `${requestId} with a key that is ${this.#revoked.has(keyId) ? 'revoked' : 'active'} was ${answer.kind}`);
    }
    if (answer.kind === 'key_revoked') return;
    this.lastUseMs.set(keyId, Math.max(this.lastUseMs.get(keyId) ?? 0, entry.storeMs));
    this.#checkRate(requestId, limits.requestsPerSecond, answer.kind === 'rate_limited', entry, violate);
    if (!PLACELESS.has(answer.kind)) this.#places.push({ atMs: entry.atMs, storeMs: entry.storeMs });
    if (answer.kind !== 'admitted' && answer.kind !== 'quota_exceeded' && answer.kind !== 'credit_exhausted') return;
    if (!request.reserve) return;
    this.#checkBooks(request, answer.kind === 'admitted', limits, entry, violate);
    if (answer.kind !== 'admitted' || answer.reservation === undefined) return;
    const { characters, leaseUntilMs } = answer.reservation;
    const priceMicro = limits.billing === 'credit' ? characters * limits.minorPerMillion : 0;
    this.ids.set(requestId, { state: 'open', characters, priceMicro, keyId, reservedAtStoreMs: entry.storeMs, leaseUntilMs });
  }

  /** Exact in both directions: no place more than the limit, and nobody sent away while one was free. */
  #checkRate(requestId: string, limit: number, refused: boolean, entry: Entry, violate: Violate): void {
    const decisive = this.#places.at(-limit);
    if (decisive !== undefined && decisive.atMs < this.#clockChangedAtMs()) return;
    const full = decisive !== undefined && entry.storeMs - decisive.storeMs < RATE_WINDOW_MS;
    if (full === refused) return;
    const since = decisive === undefined ? 'no' : `${entry.storeMs - decisive.storeMs} ms since the`;
    violate('L6', `${requestId} was ${refused ? 'refused' : 'admitted'} with ${since} place ${limit} places ago`);
  }

  /** A reservation is made exactly when what is left covers it. Periods that roll over are the store contract's affair. */
  #checkBooks(request: AdmissionRequest, reserved: boolean, limits: TeamLimits, entry: Entry, violate: Violate): void {
    if (!limits.period.endsWith('M') || entry.atMs - this.#clockChangedAtMs() < 60_000) return;
    const characters = request.characters ?? 0;
    const held = [...this.ids.values()].filter((id) => id.state === 'open' && id.leaseUntilMs > entry.storeMs);
    const fits =
      limits.billing === 'quota'
        ? this.charged().characters + sum(held.map((id) => id.characters)) + characters <= limits.characterLimit + limits.overageCharacters
        : sum(held.map((id) => id.priceMicro)) + characters * limits.minorPerMillion <= this.balanceMicro;
    if (fits !== reserved)
      violate('L3', `${request.requestId} for ${characters} was ${reserved ? 'reserved beyond' : 'refused within'} what is left`);
  }
}

export function dayName(day: number, keyId: string): string {
  return `day ${day} of key ${keyId}`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
