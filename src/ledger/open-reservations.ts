// A team's open reservations, and what follows from them: what they hold, and when the first lease ends.
import type { Micro } from '../domain/money.ts';
import type { RequestTag } from '../domain/request-tag.ts';
import type { WindowTickets } from '../domain/window-limits.ts';

/** What an open reservation holds, in the period in which it was made. */
export interface HeldReservation {
  readonly untilMs: number;
  readonly keyId: string;
  readonly characters: number;
  readonly priceMicro: Micro;
  readonly period: number;
  /** Of the plan's allowance for test keys. */
  readonly ofAllowance: boolean;
  readonly tickets: WindowTickets | undefined;
  readonly tag: RequestTag | undefined;
}

export class OpenReservations {
  /** By the ids of their requests. To be read only. */
  readonly all: Map<string, HeldReservation>;
  /** Of the period that runs, the characters, and those of the allowance; and the credit of all. To be read only. */
  readonly held = { characters: 0, ofAllowance: 0, micro: 0 };
  #period: number;
  /** No lease ends before. */
  #leaseDueMs = Infinity;

  constructor(all: Map<string, HeldReservation>, period: number) {
    this.all = all;
    this.#period = period;
    for (const held of all.values()) this.#hold(held, 1);
  }

  open(requestId: string, held: HeldReservation): void {
    this.all.set(requestId, held);
    this.#hold(held, 1);
  }

  close(requestId: string, held: HeldReservation): void {
    this.all.delete(requestId);
    this.#hold(held, -1);
  }

  /** Of this one nothing is held yet. */
  beginPeriod(number: number): void {
    this.#period = number;
    this.held.characters = this.held.ofAllowance = 0;
  }

  /** Those whose lease has ended: the caller closes them. */
  due(nowMs: number): readonly (readonly [requestId: string, held: HeldReservation])[] {
    if (nowMs < this.#leaseDueMs) return [];
    this.#leaseDueMs = Infinity;
    return [...this.all].filter(([, { untilMs }]) => {
      if (untilMs > nowMs) this.#leaseDueMs = Math.min(this.#leaseDueMs, untilMs);
      return untilMs <= nowMs;
    });
  }

  /** What those of a key hold in the period that runs. */
  heldBy(keyId: string): number {
    let total = 0;
    for (const held of this.all.values()) if (held.keyId === keyId && held.period === this.#period) total += held.characters;
    return total;
  }

  isHeldIn(period: number): boolean {
    return [...this.all.values()].some((held) => held.period === period);
  }

  #hold({ period, characters, ofAllowance, priceMicro, untilMs }: HeldReservation, sign: 1 | -1): void {
    if (sign === 1) this.#leaseDueMs = Math.min(this.#leaseDueMs, untilMs);
    this.held.micro += sign * priceMicro;
    if (period !== this.#period) return;
    this.held.characters += sign * characters;
    if (ofAllowance) this.held.ofAllowance += sign * characters;
  }
}
