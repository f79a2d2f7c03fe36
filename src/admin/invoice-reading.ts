// Reads the lines of invoices: of one team, of all teams in pages, or of all teams in bounded memory.
import { isInSpan } from '../domain/period-span.ts';
import type { PeriodSpan } from '../domain/period-span.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import type { StoreUnavailable } from '../domain/store-unavailable.ts';
import type { DayRange } from '../domain/usage-days.ts';
import type { TeamPeriods, UsageHistory } from '../ports/usage-history.ts';
import { done } from './admin-result.ts';
import type { AdminResult } from './admin-result.ts';
import { spanOf } from './invoice-question.ts';
import type { InvoicePlace, InvoiceQuestion } from './invoice-question.ts';
import { invoicesOf } from './invoice-rows.ts';
import type { InvoiceRow, NumberedInvoice } from './invoice-rows.ts';
import { RowsOfTeams } from './rows-of-teams.ts';
import type { RowPage, RowPart } from './rows-of-teams.ts';

/** How many teams are read together: event loop or Redis are busy with them for about half a millisecond. Fewer cost Redis more round trips. */
const TEAMS_READ_MAX = 25;

/** A page of lines. */
export type InvoicePage = RowPage<InvoiceRow, number>;

/** The lines of the teams that were read together. */
export type InvoicePart = RowPart<NumberedInvoice>;

export class InvoiceReading {
  readonly #history: UsageHistory;

  constructor(history: UsageHistory) {
    this.#history = history;
  }

  /** At most `limit` lines, see `RowsOfTeams`. */
  async page(question: InvoiceQuestion, after: InvoicePlace | undefined, limit: number): Promise<AdminResult<InvoicePage>> {
    const found = await rowsOf(this.#history, question).page(after, limit);
    return found.kind === 'done' ? done({ rows: found.value.rows.map(({ row }) => row), next: found.value.next }) : found;
  }

  /** All lines, in parts; ends after the first part that is a refusal. */
  async *walk(question: InvoiceQuestion): AsyncGenerator<AdminResult<InvoicePart>, void, void> {
    yield* rowsOf(this.#history, question).walk();
  }
}

function rowsOf(history: UsageHistory, question: InvoiceQuestion): RowsOfTeams<TeamPeriods, NumberedInvoice, number> {
  const { range, teamId } = question;
  const span = spanOf(question);
  return new RowsOfTeams(
    {
      atOnceMax: TEAMS_READ_MAX,
      find: (id) => oneTeam(history, id, range, span),
      page: (page) => history.pagePeriods(page, span),
      teamIdOf: ({ team }) => team.teamId,
      rowsOf: (found) => found.flatMap(invoicesOf),
      placeOf: (invoice) => ({ teamId: invoice.teamId, row: invoice.period }),
      rowsAfter: (invoices, at) => invoices.filter(({ period }) => period > at),
    },
    teamId,
  );
}

async function oneTeam(
  history: UsageHistory,
  teamId: string,
  { to }: DayRange,
  span: PeriodSpan,
): Promise<TeamPeriods | undefined | StoreUnavailable> {
  // The days have the team besides, also one that was deleted.
  const [days, periods] = [await history.days(teamId, { from: to, to }), await history.periods(teamId)];
  if (days === undefined || periods === undefined) return undefined;
  if (isUnavailable(days)) return days;
  return isUnavailable(periods) ? periods : inSpan(days.team, periods, span);
}

/** `periods` newest first. A deleted team whose usage was kept has no name. */
function inSpan(team: TeamPeriods['team'], periods: TeamPeriods['periods'], span: PeriodSpan): TeamPeriods {
  return { team, deleted: team.name === '', periods: periods.filter((one) => isInSpan(one, span)).toReversed() };
}
