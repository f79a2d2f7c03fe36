// Lines of invoices: what a period of a team comes to, from what is kept with the period.
import type { Static } from 'typebox';
import { minorRoundedDown } from '../domain/money.ts';
import { movedCredit, spentIn } from '../domain/period-credit.ts';
import { rfc3339 } from '../domain/period.ts';
import { overageOf } from '../domain/usage-report.ts';
import type { Team } from '../ports/team-registry.ts';
import type { PeriodUse, TeamPeriods } from '../ports/usage-history.ts';
import type { InvoiceAnswer } from './admin-schemas.ts';

/** Members in output order; `null` for what a kind of plan does not have, or was not recorded. */
export type InvoiceRow = Readonly<Static<typeof InvoiceAnswer>>;

/** The row's name on JSON, CSV and console, in this order. */
export const INVOICE_COLUMNS = [
  'team_id',
  'reference',
  'name',
  'plan',
  'billing',
  'period_start',
  'period_end',
  'closed',
  'request_count',
  'character_count',
  'included_characters',
  'overage_characters',
  'overage_cost_minor',
  'credit_spent_minor',
  'credit_added_minor',
  'credit_deducted_minor',
  'balance_minor',
  'total_minor',
  'currency',
  'test_character_count',
  'free_character_count',
] as const satisfies readonly (keyof InvoiceRow)[];

/** A row with its period's number, which continues a page. */
export interface NumberedInvoice {
  readonly row: InvoiceRow;
  readonly teamId: string;
  readonly period: number;
}

export function invoicesOf({ team, deleted, periods }: TeamPeriods): NumberedInvoice[] {
  return periods.map((period) => ({ row: invoiceRow(team, deleted, period), teamId: team.teamId, period: period.number }));
}

/**
 * The last plan that applied to a period applies to all of it. Credit is in whole millionths until here: each amount is rounded
 * down once.
 */
export function invoiceRow(team: Team, deleted: boolean, period: PeriodUse): InvoiceRow {
  const { limits, characters, allowanceUsed, startMs, endMs } = period;
  const overage = limits.billing === 'quota' ? overageOf(characters - allowanceUsed, limits) : undefined;
  const credit = creditOf(period);
  return {
    team_id: team.teamId,
    reference: team.reference ?? null,
    name: deleted ? null : team.name,
    plan: period.plan,
    billing: limits.billing,
    period_start: rfc3339(startMs),
    period_end: rfc3339(endMs),
    closed: period.closed,
    request_count: period.requests,
    character_count: characters,
    included_characters: overage === undefined ? null : limits.characterLimit,
    overage_characters: overage?.character_count ?? null,
    overage_cost_minor: overage?.cost_minor ?? null,
    ...credit,
    total_minor: overage === undefined ? credit.credit_spent_minor : overage.cost_minor,
    currency: limits.currency,
    test_character_count: period.testCharacters,
    free_character_count: allowanceUsed,
  };
}

const NO_CREDIT = { credit_spent_minor: null, credit_added_minor: null, credit_deducted_minor: null, balance_minor: null };

/** A quota plan has no credit, unless the period began on a credit plan and moved some. */
function creditOf({ limits, credit }: PeriodUse) {
  if (limits.billing === 'quota' && !movedCredit(credit)) return NO_CREDIT;
  return {
    credit_spent_minor: minorRoundedDown(spentIn(credit)),
    credit_added_minor: minorRoundedDown(credit.addedMicro),
    credit_deducted_minor: minorRoundedDown(credit.deductedMicro),
    balance_minor: minorRoundedDown(credit.balanceMicro),
  };
}
