// The reference store's journal of a team: every charge and every movement of credit, from which days and periods are added up.
import type { ChargeRow, DayRange, EndedPeriod, KeyDay, Micro, Period, PeriodUse, Team, WholeAccount } from 'lingate';

interface Charge extends ChargeRow {
  readonly isTest: boolean;
}

/** Credit that was added, or deducted if it is negative. */
interface Move {
  readonly period: number;
  readonly micro: Micro;
}

type Ended = Pick<PeriodUse, 'number' | 'startMs' | 'endMs' | 'plan' | 'limits'>;

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

export class Journal {
  /** The running period's; a team's first is 1. */
  number = 1;
  readonly #charges: Charge[] = [];
  readonly #moves: Move[] = [];
  readonly #ended: Ended[] = [];
  /** What the team had before all of this. */
  #openingMicro = 0;

  static from({ keys, charges, ended, openingMicro }: WholeAccount, running: NonNullable<WholeAccount['period']>): Journal {
    const made = new Journal();
    made.number = running.number;
    made.#openingMicro = openingMicro;
    for (const one of charges) made.charge({ ...one, isTest: keys.find(({ keyId }) => keyId === one.keyId)?.mode === 'test' });
    for (const { number, startMs, endMs, plan, limits } of ended) made.#ended.push({ number, startMs, endMs, plan, limits });
    for (const { number, addedMicro, deductedMicro } of [...ended, running])
      for (const micro of [addedMicro, -deductedMicro]) made.move(micro, number);
    return made;
  }

  /** One for each key, day and period. */
  rows(): ChargeRow[] {
    const rows = new Map<string, ChargeRow>();
    for (const { isTest: _isTest, ...one } of this.#charges) {
      const name = [one.keyId, one.day, one.period].join(' ');
      const had = rows.get(name) ?? { characters: 0, requests: 0, micro: 0, ofAllowance: 0 };
      const added = { characters: had.characters + one.characters, requests: had.requests + one.requests };
      rows.set(name, { ...one, ...added, micro: had.micro + one.micro, ofAllowance: had.ofAllowance + one.ofAllowance });
    }
    return [...rows.values()];
  }

  /** What has ended, oldest first, and what was moved in the period that runs. */
  moved(): Pick<WholeAccount, 'ended' | 'openingMicro'> & { readonly running: Pick<EndedPeriod, 'addedMicro' | 'deductedMicro'> } {
    const ended = this.#ended.map((one) => ({ ...one, ...this.#movedIn(one.number) }));
    return { ended, openingMicro: this.#openingMicro, running: this.#movedIn(this.number) };
  }

  #movedIn(number: number): Pick<EndedPeriod, 'addedMicro' | 'deductedMicro'> {
    const moves = this.#moves.filter(({ period }) => period === number).map(({ micro }) => micro);
    return { addedMicro: sum(moves.filter((micro) => micro > 0)), deductedMicro: 0 - sum(moves.filter((micro) => micro < 0)) };
  }

  charge(charge: Charge): void {
    this.#charges.push(charge);
  }

  move(micro: Micro, period = this.number): void {
    this.#moves.push({ period, micro });
  }

  /** The running period ends, and the next one begins. */
  end({ startMs, endMs }: Period, { plan, limits }: Team, nowMs: number): void {
    this.#ended.push({ number: this.number, startMs, endMs: Math.max(startMs, Math.min(endMs, nowMs)), plan, limits });
    this.number += 1;
  }

  /** What a key was charged in the running period; without one all of them. */
  used(keyId?: string): { readonly characters: number; readonly requests: number; readonly ofAllowance: number } {
    const charges = this.#charges.filter((one) => one.period === this.number && (keyId === undefined || one.keyId === keyId));
    return {
      characters: sum(charges.map(({ characters }) => characters)),
      requests: sum(charges.map(({ requests }) => requests)),
      ofAllowance: sum(charges.map(({ ofAllowance }) => ofAllowance)),
    };
  }

  /** By day, then in the order of the keys. */
  days({ from, to }: DayRange, keyIds: readonly string[]): KeyDay[] {
    const charged = this.#charges.filter(({ day }) => day >= from && day <= to);
    const days = [...new Set(charged.map(({ day }) => day))].toSorted((one, other) => one - other);
    return days.flatMap((day) =>
      keyIds.flatMap((keyId): KeyDay[] => {
        const own = charged.filter((one) => one.day === day && one.keyId === keyId);
        const [characters, requests] = [sum(own.map((one) => one.characters)), sum(own.map((one) => one.requests))];
        return own.length === 0 ? [] : [{ day, keyId, characters, requests }];
      }),
    );
  }

  /** Newest first, with the running one. `open`: the numbers of those that have open reservations. */
  periods(running: Period, { plan, limits }: Team, open: readonly number[]): PeriodUse[] {
    // They are closed in order, because a delayed charge changes the balances of all that follow.
    const ended = this.#ended.map((one) => ({ ...one, closed: !open.some((number) => number <= one.number) }));
    const current = { number: this.number, startMs: running.startMs, endMs: running.endMs, closed: false, plan, limits };
    return [...ended, current].map((one) => ({ ...one, ...this.#figures(one.number) })).toReversed();
  }

  #figures(number: number) {
    const charges = this.#charges.filter(({ period }) => period === number);
    return {
      characters: sum(charges.map(({ characters }) => characters)),
      allowanceUsed: sum(charges.map(({ ofAllowance }) => ofAllowance)),
      testCharacters: sum(charges.filter(({ isTest }) => isTest).map(({ characters }) => characters)),
      requests: sum(charges.map(({ requests }) => requests)),
      credit: {
        openingMicro: this.#balanceAfter(number - 1),
        ...this.#movedIn(number),
        balanceMicro: this.#balanceAfter(number),
      },
    };
  }

  #balanceAfter(number: number): Micro {
    const moved = this.#moves.filter(({ period }) => period <= number).map(({ micro }) => micro);
    const spent = this.#charges.filter(({ period }) => period <= number).map(({ micro }) => micro);
    return this.#openingMicro + sum(moved) - sum(spent);
  }
}
