// What the lines of invoices come to, in each currency.
import type { InvoiceRow } from './invoice-rows.ts';

export interface InvoiceTotal {
  readonly currency: string;
  readonly lines: number;
  readonly characters: number;
  readonly overageMinor: number;
  readonly creditSpentMinor: number;
  readonly totalMinor: number;
}

export class InvoiceTotals {
  readonly #sums = new Map<string, { -readonly [Name in keyof InvoiceTotal]: InvoiceTotal[Name] }>();

  add(rows: readonly InvoiceRow[]): void {
    for (const row of rows) {
      const { currency } = row;
      const sum = this.#sums.get(currency) ?? { currency, lines: 0, characters: 0, overageMinor: 0, creditSpentMinor: 0, totalMinor: 0 };
      sum.lines++;
      sum.characters += row.character_count;
      sum.overageMinor += row.overage_cost_minor ?? 0;
      sum.creditSpentMinor += row.credit_spent_minor ?? 0;
      sum.totalMinor += row.total_minor ?? 0;
      this.#sums.set(currency, sum);
    }
  }

  /** In the order of their codes. */
  all(): readonly InvoiceTotal[] {
    return [...this.#sums.values()].toSorted((one, other) => (one.currency < other.currency ? -1 : 1));
  }
}
