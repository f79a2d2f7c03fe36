// The limits of a single key, in memory while operations use it: the limits, what its reservations hold, its own window.
import type { SQLOutputValue } from 'node:sqlite';
import { addressBytes, holdsAddress, parseRange } from '../../domain/key-limits.ts';
import type { AddressRange, KeyLimits } from '../../domain/key-limits.ts';
import type { CallerCheck, CallerRefusal, RateStanding } from '../../ports/ledger.ts';
import type { TeamAccount } from './accounts.ts';
import { RateWindow } from './rate-window.ts';
import type { SqlRow } from './statements.ts';

/** The columns of `key_limits` for reporting, with names that no other table uses. */
export const LIMIT_COLUMNS = `l.disabled, l.expires_at_ms, l.requests_per_second AS key_requests_per_second,
  l.characters AS key_characters, l.addresses, l.scopes, l.windows AS key_windows`;

export const GUARD_COLUMNS = `${LIMIT_COLUMNS}, l.held_period_no, l.held_characters, l.window_newest_ms, l.window`;

/** From a row with `LIMIT_COLUMNS`, which are all null for a key without limits. */
export function limitsOfRow(row: SqlRow): KeyLimits {
  const { expires_at_ms: expires, key_requests_per_second: rate, key_characters: characters, addresses } = row;
  const { scopes, key_windows: windows } = row;
  return {
    ...(isSet(expires) ? { expiresAtMs: Number(expires) } : {}),
    ...(isSet(rate) ? { requestsPerSecond: Number(rate) } : {}),
    ...(isSet(characters) ? { characters: Number(characters) } : {}),
    ...(isSet(addresses) ? { allowedAddresses: JSON.parse(String(addresses)) as string[] } : {}),
    ...(isSet(scopes) ? { scopes: JSON.parse(String(scopes)) as string[] } : {}),
    ...(isSet(windows) ? { windows: String(windows) } : {}),
  };
}

function isSet(column: SQLOutputValue | undefined): boolean {
  return column !== null && column !== undefined;
}

/** How long a refusal by a rate holds (`RateLimited`): until the key expires at most. The clock may be nearly a millisecond behind. */
export function fullForMs(retryAfterMs: number, guard: KeyGuard | undefined, nowMs: number): number {
  const expiresInMs = (guard?.limits.expiresAtMs ?? Infinity) - nowMs;
  return Math.max(0, Math.min(retryAfterMs, expiresInMs) - 1);
}

/** What a request carries for the checks of its key. */
type FromCaller = Pick<CallerCheck, 'address' | 'scope'>;

/** The team's current period, and what all its keys hold in it. */
type TeamHeld = Pick<TeamAccount['counts'], 'periodNo' | 'heldCharacters'>;

export class KeyGuard {
  readonly disabled: boolean;
  readonly limits: KeyLimits;
  readonly window: RateWindow;
  heldPeriodNo: number;
  heldCharacters: number;
  changed = false;
  readonly #ranges: readonly AddressRange[] | undefined;

  constructor(row: SqlRow) {
    this.disabled = Number(row['disabled']) === 1;
    this.limits = limitsOfRow(row);
    this.heldPeriodNo = Number(row['held_period_no']);
    this.heldCharacters = Number(row['held_characters']);
    this.window = new RateWindow(row['window'] as Uint8Array, Number(row['window_newest_ms']));
    this.#ranges = this.limits.allowedAddresses?.map(parseRange).filter((range) => range !== undefined);
  }

  /** The refusal that comes before any rate check. */
  refusal({ address, scope }: FromCaller, nowMs: number): Exclude<CallerRefusal, { kind: 'rate_limited' }> | undefined {
    if (this.disabled) return { kind: 'key_revoked', reason: 'disabled' };
    const { expiresAtMs } = this.limits;
    if (expiresAtMs !== undefined && nowMs >= expiresAtMs) return { kind: 'key_revoked', reason: 'expired' };
    if (this.#ranges !== undefined) {
      if (address === undefined) return { kind: 'address_wanted' };
      const bytes = addressBytes(address);
      if (!this.#ranges.some((range) => holdsAddress(range, bytes))) return { kind: 'address_refused' };
    }
    const { scopes } = this.limits;
    if (scopes === undefined) return undefined;
    if (scope === undefined) return { kind: 'scope_wanted' };
    return scopes.includes(scope) ? undefined : { kind: 'scope_missing' };
  }

  /** Call it only if the team's own window has a free slot: neither window discards anything before both have one. */
  rateRefusal(nowMs: number): Extract<CallerRefusal, { kind: 'rate_limited' }> | undefined {
    const limit = this.limits.requestsPerSecond;
    if (limit === undefined) return undefined;
    const retryAfterMs = this.window.waitMsKept(limit, nowMs);
    if (retryAfterMs <= 0) return undefined;
    return { kind: 'rate_limited', limit, retryAfterMs, fullForMs: fullForMs(retryAfterMs, this, nowMs), of: 'key' };
  }

  takeSlot(nowMs: number): void {
    if (this.limits.requestsPerSecond !== undefined) this.window.take(nowMs);
  }

  /** The state of the key's own window, if it has fewer free slots. */
  nearer(rate: RateStanding): RateStanding {
    const limit = this.limits.requestsPerSecond;
    if (limit === undefined) return rate;
    const remaining = limit - this.window.total;
    return remaining < rate.remaining ? { limit, remaining, of: 'key' } : rate;
  }

  /** At most what the team holds: a process of an older version ends reservations without updating this. */
  held({ periodNo, heldCharacters }: TeamHeld): number {
    return this.heldPeriodNo === periodNo ? Math.min(this.heldCharacters, heldCharacters) : 0;
  }

  /** Adds to what the key's reservations of this period hold; a negative number frees it. */
  hold(characters: number, periodNo: number, team: TeamHeld): boolean {
    // The counts of a past period are final.
    if (this.limits.characters === undefined || periodNo !== team.periodNo) return false;
    const before = this.heldPeriodNo === periodNo ? this.heldCharacters : 0;
    // At least 0, in case the older process made the reservation.
    this.heldCharacters = Math.max(0, Math.min(before + characters, team.heldCharacters));
    this.heldPeriodNo = periodNo;
    return true;
  }
}
