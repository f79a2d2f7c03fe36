// A key in its team's account: whether it may be used, by whom and for what, and what it has used of its own limits.
import { addressBits, keyStatus, rangeBits } from '../domain/key-limits.ts';
import { keySubject, windowLimits } from '../domain/window-limits.ts';
import type { WindowLimit, WindowSubject } from '../domain/window-limits.ts';
import type { CallerCheck, CallerRefusal } from '../ports/ledger.ts';
import type { KeyRecord } from '../ports/team-registry.ts';
import type { WindowCounts } from './counter.ts';
import type { LimitedSubject } from './limit.ts';
import { Slots } from './rate.ts';

/** What a store keeps of a key's use; characters and requests are those of `period`. */
export interface KeyUsed {
  lastUsedAtMs: number | undefined;
  period: number;
  characters: number;
  requests: number;
  slots: Slots;
}

/** What it needs of its team's account. */
interface OfTeam {
  readonly counts: { readonly period: { readonly number: number } };
  heldBy(keyId: string): number;
  countsIfLimited(subject: WindowSubject, windows: string | undefined): WindowCounts | undefined;
}

export class KeyAccount implements LimitedSubject {
  readonly of = 'key';
  readonly name: WindowSubject;
  readonly use: KeyUsed;
  readonly #account: OfTeam;
  record: KeyRecord;
  rate: number | undefined;
  characters: number | undefined;
  windows: readonly WindowLimit[] = [];
  counts: WindowCounts | undefined;
  /** Whether any limit is its own, besides those of `refusal`. */
  isLimited = false;
  #ranges: readonly string[] | undefined;
  /** Whether its use differs from what is stored. */
  isChanged = false;

  constructor(account: OfTeam, record: KeyRecord, use: KeyUsed) {
    this.#account = account;
    this.name = keySubject(record.keyId);
    this.use = use;
    this.record = record;
    this.setRecord(record);
  }

  /** What is used stays, and counts for new limits; without a rate no requests are counted, so that a new one begins with none. */
  setRecord(record: KeyRecord): void {
    const { requestsPerSecond, characters, windows = '', allowedAddresses } = record.limits;
    if (requestsPerSecond === undefined && this.use.slots.taken > 0) {
      this.use.slots = new Slots();
      this.isChanged = true;
    }
    this.record = record;
    this.rate = requestsPerSecond;
    this.characters = characters;
    this.windows = windowLimits(windows);
    this.counts = this.#account.countsIfLimited(this.name, windows);
    this.isLimited = requestsPerSecond !== undefined || characters !== undefined || this.counts !== undefined;
    this.#ranges = allowedAddresses?.map(rangeBits).filter((range) => range !== undefined);
  }

  get slots(): Slots {
    return this.use.slots;
  }

  /** What comes before any rate: whether the key may be used at all, from this address, for this scope. */
  refusal({ address, scope }: Pick<CallerCheck, 'address' | 'scope'>, nowMs: number): CallerRefusal | undefined {
    const { status, limits } = this.record;
    if (status === 'revoked') return { kind: 'key_revoked' };
    if (status === 'disabled') return { kind: 'key_revoked', reason: 'disabled' };
    if (limits.expiresAtMs !== undefined && nowMs >= limits.expiresAtMs) return { kind: 'key_revoked', reason: 'expired' };
    if (this.#ranges !== undefined) {
      if (address === undefined) return { kind: 'address_required' };
      const bits = addressBits(address);
      if (!this.#ranges.some((range) => bits.startsWith(range))) return { kind: 'address_refused' };
    }
    if (limits.scopes === undefined) return undefined;
    if (scope === undefined) return { kind: 'scope_required' };
    return limits.scopes.includes(scope) ? undefined : { kind: 'scope_missing' };
  }

  stamp(nowMs: number): void {
    if ((this.use.lastUsedAtMs ?? 0) >= nowMs) return;
    this.use.lastUsedAtMs = nowMs;
    this.isChanged = true;
  }

  /** Counts a charge in the current period. */
  count(period: number, characters: number): void {
    if (this.use.period !== period) Object.assign(this.use, { period, characters: 0, requests: 0 });
    this.use.characters += characters;
    this.use.requests++;
  }

  /** In the current period. */
  used(): { readonly characters: number; readonly requests: number } {
    const { period, characters, requests } = this.use;
    return period === this.#account.counts.period.number ? { characters, requests } : { characters: 0, requests: 0 };
  }

  usedInPeriod(): number {
    return this.used().characters + this.#account.heldBy(this.record.keyId);
  }

  /** As lists show it at a moment. */
  shown(nowMs: number): KeyRecord {
    return shownKey(this.record, this.use.lastUsedAtMs, nowMs);
  }
}

/** `record`: as it is stored, where its status ignores expiry. */
export function shownKey(record: Omit<KeyRecord, 'lastUsedAtMs'>, lastUsedAtMs: number | undefined, nowMs: number): KeyRecord {
  const status = record.status === 'revoked' ? 'revoked' : keyStatus(record.status === 'disabled', record.limits, nowMs);
  return { ...record, status, lastUsedAtMs };
}
