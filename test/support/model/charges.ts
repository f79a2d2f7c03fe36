// What teams were charged according to the answers to callers: kept separately from the model's balances.
import { dayOf } from '../../../src/domain/period.ts';
import type { Reservation, Resolution } from '../../../src/ports/ledger.ts';

interface Resolved {
  readonly teamId: string;
  readonly requestId: string;
  readonly part: number | undefined;
}

export class Charges {
  /** Characters of reservations that are not resolved yet. */
  readonly #open = new Map<string, number>();
  readonly #byTeam = new Map<string, Map<number, number>>();

  /** Newly made, not a repeated answer. */
  reserved({ requestId, characters }: Reservation): void {
    this.#open.set(requestId, characters);
  }

  /** `part`: how many characters a commit named. */
  resolved({ teamId, requestId, part }: Resolved, { kind }: Resolution, nowMs: number): void {
    const reserved = this.#open.get(requestId);
    this.#open.delete(requestId);
    if (kind !== 'committed' || reserved === undefined) return;
    const characters = Math.min(part ?? reserved, reserved);
    const days = this.#byTeam.get(teamId) ?? new Map<number, number>();
    days.set(dayOf(nowMs), (days.get(dayOf(nowMs)) ?? 0) + characters);
    this.#byTeam.set(teamId, days);
  }

  /** Characters by UTC day. */
  of(teamId: string): ReadonlyMap<number, number> {
    return this.#byTeam.get(teamId) ?? new Map();
  }
}
