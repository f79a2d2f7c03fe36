// What teams were charged according to the answers to callers: kept separately from the model's balances.
import { dayOf } from '../../../src/domain/period.ts';
import type { Reservation, Resolution } from '../../../src/ports/ledger.ts';
import type { Charge } from '../auditor/totals.ts';

interface Resolved {
  readonly teamId: string;
  readonly requestId: string;
  readonly part: number | undefined;
}

export class Charges {
  /** Reservations that are not resolved yet. */
  readonly #open = new Map<string, Pick<Charge, 'keyId' | 'characters'>>();
  readonly #byTeam = new Map<string, readonly Charge[]>();

  /** Newly made, not a repeated answer. */
  reserved({ requestId, characters }: Reservation, keyId: string): void {
    this.#open.set(requestId, { keyId, characters });
  }

  /** `part`: how many characters a commit named. */
  resolved({ teamId, requestId, part }: Resolved, { kind }: Resolution, nowMs: number): void {
    const reserved = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (kind !== 'committed' || reserved === undefined) return;
    const { keyId, characters } = reserved;
    const charge = { day: dayOf(nowMs), keyId, characters: Math.min(part ?? characters, characters) };
    this.#byTeam.set(teamId, [...this.of(teamId), charge]);
  }

  of(teamId: string): readonly Charge[] {
    return this.#byTeam.get(teamId) ?? [];
  }
}
