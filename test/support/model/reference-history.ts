// What the reference model remembers of a team's use: every charge, and every period with the plan that held in it at last.
import { dayOf } from '../../../src/domain/period.ts';
import type { Period } from '../../../src/domain/period.ts';
import type { Team } from '../../../src/ports/team-registry.ts';
import type { DayRange, KeyDay, PeriodUse } from '../../../src/ports/usage-history.ts';

interface Charge {
  readonly day: number;
  readonly keyId: string;
  readonly characters: number;
  readonly period: Period;
}

/** A period that the team has left. */
interface Left extends Pick<PeriodUse, 'endMs' | 'plan' | 'limits'> {
  readonly period: Period;
}

export class ReferenceHistory {
  readonly #charges: Charge[] = [];
  readonly #left: Left[] = [];

  charge(period: Period, keyId: string, characters: number, nowMs: number): void {
    this.#charges.push({ period, keyId, characters, day: dayOf(nowMs) });
  }

  leave(period: Period, { plan, limits }: Team, nowMs: number): void {
    this.#left.push({ period, plan, limits, endMs: Math.max(period.startMs, Math.min(period.endMs, nowMs)) });
  }

  /** `keyIds` in order of creation. */
  days({ from, to }: DayRange, keyIds: readonly string[]): KeyDay[] {
    const days: KeyDay[] = [];
    for (let day = from; day <= to; day++) {
      const charged = this.#charges.filter((charge) => charge.day === day);
      for (const keyId of keyIds) {
        const own = charged.filter((charge) => charge.keyId === keyId);
        if (own.length > 0) days.push({ day, keyId, characters: total(own), requests: own.length });
      }
    }
    return days;
  }

  /** `isOpen` says whether a reservation of the period is open. */
  periods(running: Period, { plan, limits }: Team, isOpen: (period: Period) => boolean): PeriodUse[] {
    const past = this.#left.map(({ period, ...rest }, index) => ({
      ...rest,
      number: index + 1,
      startMs: period.startMs,
      closed: !isOpen(period),
      characters: total(this.#charges.filter((charge) => charge.period === period)),
    }));
    const characters = total(this.#charges.filter((charge) => charge.period === running));
    return [{ number: past.length + 1, ...running, closed: false, plan, limits, characters }, ...past.toReversed()];
  }
}

function total(charges: readonly Charge[]): number {
  return charges.reduce((sum, { characters }) => sum + characters, 0);
}
