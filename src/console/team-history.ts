// The history on a team's page: the last 30 days and 13 months, and its periods with their usage.
import { NO_TEAM, refusalOf } from '../admin/admin-refusals.ts';
import { periodReport } from '../admin/operations/periods.ts';
import type { Refusal } from '../core/outcome.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { dayOf } from '../domain/period.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { dateOf, dayOfDate, lastMonths, monthOf } from '../domain/usage-days.ts';
import type { KeyDay, PeriodUse } from '../ports/usage-history.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleParts } from './console-route.ts';
import { htmlTable, numeric } from './html-table.ts';
import { count, day, money } from './shown.ts';
import { usageChart } from './usage-chart.ts';
import type { UsedSpan } from './usage-chart.ts';

const DAYS = 30;
const MONTHS = 13;
/** Limits the page: periods may be very short. */
const PERIODS_MAX = 26;

export async function teamHistory(teamId: string, { context }: Pick<ConsoleParts, 'context'>, nowMs: number): Promise<Html | Refusal> {
  const history = context.part('history');
  const today = dayOf(nowMs);
  const months = lastMonths(today, MONTHS);
  // Thirteen months are never more days than one query may have.
  const [days, periods] = await Promise.all([
    history.days(teamId, { from: dayOfDate(`${months[0]}-01`)!, to: today }),
    history.periods(teamId),
  ]);
  if (days === undefined || periods === undefined) return NO_TEAM;
  if (isUnavailable(days)) return refusalOf(days);
  if (isUnavailable(periods)) return refusalOf(periods);
  const rows = days.days;
  const dates = Array.from({ length: DAYS }, (_, index) => dateOf(today - DAYS + 1 + index));
  const from = dates[0]!;
  const csv = (one: 'keys' | 'tags'): string =>
    `${CONSOLE_PREFIX}/usage/csv?${new URLSearchParams({ from, to: dateOf(today), by: 'day', [one]: 'true', team: teamId }).toString()}`;
  return html`${usageChart({ id: 'days', title: `Last ${DAYS} days`, unit: 'Day', spans: spansOf(dates, rows, dateOf) })}
    <p class="links">
      <a href="${csv('keys')}" download>Download these days, key by key (CSV)</a>
      <a href="${csv('tags')}" download>Download these days, tag by tag (CSV)</a>
    </p>
    ${usageChart({ id: 'months', title: `Last ${MONTHS} months`, unit: 'Month', spans: spansOf(months, rows, monthOf) })}
    <h2 id="periods">Periods</h2>
    ${periodsTable(teamId, periods)}`;
}

/** A span for each date, in order; `dateOfDay` gives the date of a day. Days are UTC. */
function spansOf(dates: readonly string[], rows: readonly KeyDay[], dateOfDay: (day: number) => string): UsedSpan[] {
  const spans = new Map(dates.map((date) => [date, { date, characters: 0, requests: 0 }]));
  for (const row of rows) {
    const span = spans.get(dateOfDay(row.day));
    if (span === undefined) continue;
    span.characters += row.characters;
    span.requests += row.requests;
  }
  return [...spans.values()];
}

const FIGURES = ['Characters', 'Included', 'Overage', 'Cost of overage'].map(numeric);
const COLUMNS = ['From', 'To', 'State', 'Plan', ...FIGURES] as const;

function periodsTable(teamId: string, periods: readonly PeriodUse[]): Html {
  if (periods.length === 0) return html`<p class="soft">There are none yet.</p>`;
  const rows = periods.slice(0, PERIODS_MAX).map((period) => {
    const { overage, character_limit: limit } = periodReport(period);
    return [
      day(period.startMs),
      day(period.endMs),
      period.closed ? 'closed' : 'open',
      period.plan,
      count(period.characters),
      limit === undefined ? '–' : count(limit),
      overage === undefined ? '–' : count(overage.character_count),
      overage === undefined ? '–' : money(overage.cost_minor, overage.currency),
    ];
  });
  const left = periods.length - rows.length;
  return html`${htmlTable({ caption: 'Periods, newest first', columns: COLUMNS, rows })}
  ${left > 0 ? html`<p class="soft">${count(left)} more are listed by <code>lingate usage periods ${teamId}</code>.</p>` : undefined}`;
}
