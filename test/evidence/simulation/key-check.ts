// One key as a checker tracks it, from the store's answers alone: what bars it, its own window, and its limits.
import type { KeyMode } from '../../../src/domain/api-key.ts';
import { changedLimits } from '../../../src/domain/key-limits.ts';
import type { KeyLimits } from '../../../src/domain/key-limits.ts';
import type { Admission, AdmissionRequest } from '../../../src/ports/ledger.ts';
import type { KeyChange } from '../../../src/ports/team-registry.ts';
import { WindowCheck } from '../../support/model/window-check.ts';
import type { Place } from './entries.ts';
import { isHeld } from './key-limits.ts';

export class KeyCheck {
  limits: KeyLimits = {};
  mode: KeyMode = 'live';
  readonly windows = new WindowCheck();
  /** Slots taken while the key had a rate. */
  places: Place[] = [];
  /** In true time. */
  changedAtMs = -Infinity;
  #disabled = false;
  #revoked = false;

  revoke(atMs: number): void {
    this.changedAtMs = atMs;
    this.#revoked = true;
  }

  change({ disabled, limits = {} }: KeyChange, atMs: number): void {
    this.changedAtMs = atMs;
    this.#disabled = disabled ?? this.#disabled;
    this.limits = changedLimits(this.limits, limits);
    // Without a rate no window is kept.
    if (this.limits.requestsPerSecond === undefined) this.places = [];
  }

  status(storeMs: number): 'active' | 'revoked' | 'disabled' | 'expired' {
    if (this.#revoked) return 'revoked';
    if (this.#disabled) return 'disabled';
    return this.limits.expiresAtMs !== undefined && storeMs >= this.limits.expiresAtMs ? 'expired' : 'active';
  }

  /** The answer required before any rate is checked, if any: one that changes nothing. */
  barred({ address, scope }: Pick<AdmissionRequest, 'address' | 'scope'>, storeMs: number): Admission | undefined {
    const status = this.status(storeMs);
    if (status === 'revoked') return { kind: 'key_revoked' };
    if (status !== 'active') return { kind: 'key_revoked', reason: status };
    const { allowedAddresses, scopes } = this.limits;
    if (allowedAddresses !== undefined && address === undefined) return { kind: 'address_wanted' };
    if (allowedAddresses !== undefined && !isHeld(allowedAddresses, address!)) return { kind: 'address_refused' };
    if (scopes === undefined) return undefined;
    if (scope === undefined) return { kind: 'scope_wanted' };
    return scopes.includes(scope) ? undefined : { kind: 'scope_missing' };
  }

  taken(place: Place): void {
    if (this.limits.requestsPerSecond !== undefined) this.places.push(place);
  }
}
