// What a period did to a team's credit, in millionths of a minor unit: nothing is rounded before it is shown.
import type { Micro } from './money.ts';

/**
 * The balance when the period began and when it ended (or now, while it runs), and what was added and deducted between. The
 * settlement that spends credit lowers the balance in the same operation, and what is settled late, after the period's end, lowers
 * the balance of the period that it was reserved in: so what was spent follows exactly.
 */
export interface PeriodCredit {
  readonly openingMicro: Micro;
  readonly addedMicro: Micro;
  readonly deductedMicro: Micro;
  readonly balanceMicro: Micro;
}

/** What was spent on translations. */
export function spentIn({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodCredit): Micro {
  return openingMicro + addedMicro - deductedMicro - balanceMicro;
}

/** Whether the period changed the balance, or would have if additions and deductions were not equal. */
export function movedCredit({ openingMicro, addedMicro, deductedMicro, balanceMicro }: PeriodCredit): boolean {
  return addedMicro > 0 || deductedMicro > 0 || openingMicro !== balanceMicro;
}
