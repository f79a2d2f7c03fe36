// What teams are charged and credited, written down one by one, and added up independently of the code that makes invoices.
import type { TeamLimits } from '../../src/domain/plan.ts';

const MICRO = 1_000_000n;

interface Charge {
  readonly month: string;
  readonly day: number;
  readonly characters: bigint;
  readonly micro: bigint;
  readonly isTest: boolean;
  readonly isFree: boolean;
}

export interface NotedPlan {
  readonly name: string;
  readonly limits: TeamLimits;
}

/** What happened, as a clerk would note it: nothing is added up until it is asked for. */
export class ClerkNotes {
  readonly charges: Charge[] = [];
  readonly moves: { readonly month: string; readonly micro: bigint }[] = [];
  /** The last plan of each month in which there was one. */
  readonly plans = new Map<string, NotedPlan>();

  /** The figures of the month's line, as far as they do not depend on the store. Months are `2026-11`. */
  invoice(month: string) {
    const { name, limits: plan } = this.plans.get(
      [...this.plans.keys()]
        .filter((one) => one <= month)
        .toSorted()
        .at(-1)!,
    )!;
    const own = this.charges.filter((one) => one.month === month);
    const all = (wanted: (one: Charge) => boolean): bigint => own.filter(wanted).reduce((sum, one) => sum + one.characters, 0n);
    const [characters, ofTests, free] = [all(() => true), all(({ isTest }) => isTest), all(({ isFree }) => isFree)];
    const charged = characters - free;
    const { spent, added, deducted, balance } = this.credit(month);
    const isQuota = plan.billing === 'quota';
    const beyond = charged > BigInt(plan.characterLimit) ? charged - BigInt(plan.characterLimit) : 0n;
    const uncapped = (beyond * BigInt(plan.minorPerMillion)) / MICRO;
    const cost = uncapped > BigInt(plan.overageCapMinor) ? BigInt(plan.overageCapMinor) : uncapped;
    const movedNothing = spent === 0n && added === 0n && deducted === 0n;
    const credit = (micro: bigint): number | null => (isQuota && movedNothing ? null : Number(micro / MICRO));
    return {
      plan: name,
      billing: plan.billing,
      request_count: own.length,
      character_count: Number(characters),
      included_characters: isQuota ? plan.characterLimit : null,
      overage_characters: isQuota ? Number(beyond) : null,
      overage_cost_minor: isQuota ? Number(cost) : null,
      credit_spent_minor: credit(spent),
      credit_added_minor: credit(added),
      credit_deducted_minor: credit(deducted),
      balance_minor: credit(balance),
      total_minor: isQuota ? Number(cost) : Number(spent / MICRO),
      currency: plan.currency,
      test_character_count: Number(ofTests),
      free_character_count: Number(free),
    };
  }

  /** In millionths of a minor unit. */
  credit(month: string) {
    const spent = this.charges.filter((one) => one.month === month).reduce((sum, one) => sum + one.micro, 0n);
    const moves = this.moves.filter((one) => one.month === month).map(({ micro }) => micro);
    const balance =
      this.moves.filter((one) => one.month <= month).reduce((sum, { micro }) => sum + micro, 0n) -
      this.charges.filter((one) => one.month <= month).reduce((sum, { micro }) => sum + micro, 0n);
    const added = moves.filter((micro) => micro > 0n).reduce((sum, micro) => sum + micro, 0n);
    const deducted = -moves.filter((micro) => micro < 0n).reduce((sum, micro) => sum + micro, 0n);
    return { spent, added, deducted, balance };
  }

  /** Whether a store keeps the month: without characters and movements it need not. */
  isKept(month: string): boolean {
    return (
      this.charges.some((one) => one.month === month && one.characters + one.micro > 0n) || this.moves.some((one) => one.month === month)
    );
  }
}
