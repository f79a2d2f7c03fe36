// Reads the lines of invoices: of one team, of all teams in pages, or of all teams in bounded memory.
import { setImmediate as nextTurn } from 'node:timers/promises';
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

export interface InvoicePage {
  readonly rows: readonly InvoiceRow[];
  /** Where the next page begins, if there is one. */
  readonly next: InvoicePlace | undefined;
}

/** The lines of the teams that were read together. */
export interface InvoicePart {
  readonly invoices: readonly NumberedInvoice[];
  /** How many teams have been read so far, including those without a line. */
  readonly teams: number;
  readonly lastTeamId: string;
}

/** How many teams are read together: a database may be busy with them for a few milliseconds. */
const TEAMS_READ_MAX = 250;
/** A page ends after this many teams, however few lines they have: most of 100,000 teams may have none. */
const TEAMS_OF_PAGE_MAX = 5000;

export class InvoiceReading {
  readonly #history: UsageHistory;

  constructor(history: UsageHistory) {
    this.#history = history;
  }

  /** At most `limit` lines; fewer if many teams without one lie between, which does not mean that this is the last page. */
  async page(question: InvoiceQuestion, after: InvoicePlace | undefined, limit: number): Promise<AdminResult<InvoicePage>> {
    const found: NumberedInvoice[] = [];
    for await (const part of this.walk(question, after)) {
      if (part.kind !== 'done') return part;
      found.push(...part.value.invoices);
      if (found.length > limit) {
        const { teamId, period } = found[limit - 1]!;
        return done({ rows: found.slice(0, limit).map(({ row }) => row), next: { teamId, period } });
      }
      const { lastTeamId, teams } = part.value;
      if (teams >= TEAMS_OF_PAGE_MAX) return done({ rows: found.map(({ row }) => row), next: { teamId: lastTeamId, period: undefined } });
    }
    return done({ rows: found.map(({ row }) => row), next: undefined });
  }

  /** All lines, in parts; ends after the first part that is a refusal. */
  async *walk(question: InvoiceQuestion, after?: InvoicePlace): AsyncGenerator<AdminResult<InvoicePart>, void, void> {
    const history = this.#history;
    const { teamId } = question;
    const span = spanOf(question);
    let [teams, last]: [number, string | undefined] = [0, after?.teamId];
    const first = teamId ?? (after?.period === undefined ? undefined : after.teamId);
    if (first !== undefined) {
      const found = await oneTeam(history, first, question.range, span);
      if (found !== undefined && isUnavailable(found)) return yield found;
      if (found === undefined && teamId !== undefined) return yield { kind: 'no_such_team', teamId };
      // A team that was deleted since the previous page has no lines left.
      if (found !== undefined) yield done({ invoices: behind(invoicesOf(found), after), teams: ++teams, lastTeamId: first });
      if (teamId !== undefined) return;
    }
    for (;;) {
      const found = await history.pagePeriods({ after: last, limit: TEAMS_READ_MAX, search: undefined }, span);
      if (isUnavailable(found)) return yield found;
      if (found.length === 0) return;
      teams += found.length;
      last = found.at(-1)!.team.teamId;
      yield done({ invoices: found.flatMap(invoicesOf), teams, lastTeamId: last });
      if (found.length < TEAMS_READ_MAX) return;
      // A store that answers synchronously would keep everyone else waiting until the last team.
      await nextTurn();
    }
  }
}

function behind(invoices: readonly NumberedInvoice[], after: InvoicePlace | undefined): readonly NumberedInvoice[] {
  if (after === undefined || invoices[0]?.teamId !== after.teamId) return invoices;
  return after.period === undefined ? [] : invoices.filter(({ period }) => period > after.period!);
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
