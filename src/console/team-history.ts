// A team's history on its page: 30 days and 13 months as bars, periods, movements of credit.
import { found } from '../admin/operation.ts';
import { listPeriods, periodReport } from '../admin/operations/periods.ts';
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import { dayOf, spentIn, rfc3339 } from '../domain/period.ts';
import { dateOf, dayOfDate, lastMonths, monthOf } from '../domain/usage-days.ts';
import type { KeyDay, PeriodUse } from '../ports/usage-history.ts';
import { drawn } from './chart.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { SignedInVisit } from './console-route.ts';
import { tableOf, htmlTable, numeric, freeText } from './cells.ts';
import { count, compact, moment, money } from './shown.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { minorRoundedDown } from '../domain/money.ts';
import type { Micro } from '../domain/money.ts';
import type { Team } from '../ports/team-registry.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';

const DAYS = 30;
const MONTHS = 13;
/** Limits the page: periods may be very short. */
const PERIODS_MAX = 26;

/** What was used by day and by month. */
export async function teamDays(teamId: string, { context, nowMs }: SignedInVisit): Promise<Html> {
  const today = dayOf(nowMs);
  const months = lastMonths(today, MONTHS);
  // Thirteen months are never more days than one query may have.
  const days = await context.part('history').days(teamId, { from: dayOfDate(`${months[0]}-01`)!, to: today });
  const rows = found(days, 'team', teamId).days;
  const dates = Array.from({ length: DAYS }, (_, index) => dateOf(today - DAYS + 1 + index));
  const from = dates[0]!;
  const csv = (one: 'keys' | 'tags'): string =>
    `${CONSOLE_PREFIX}/usage/csv?${new URLSearchParams({ from, to: dateOf(today), by: 'day', [one]: 'true', team: teamId }).toString()}`;
  return html`${usageChart('days', `Last ${DAYS} days`, 'Day', 5, spansOf(dates, rows, dateOf))}
    <p class="links">
      <a href="${csv('keys')}" download>Download these days, key by key (CSV)</a>
      <a href="${csv('tags')}" download>Download these days, tag by tag (CSV)</a>
    </p>
    ${usageChart('months', `Last ${MONTHS} months`, 'Month', 3, spansOf(months, rows, monthOf))}`;
}

export async function teamPeriods(teamId: string, visit: SignedInVisit): Promise<Html> {
  const periods = found(await visit.context.part('history').periods(teamId), 'team', teamId);
  const around = { caption: 'Periods, newest first', most: PERIODS_MAX, more: `lingate usage periods ${teamId}` };
  return html`<h2 id="periods">Periods</h2>
    ${await tableOf(listPeriods, periods.map(periodReport), visit, around)}`;
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

/** A day or a month. */
interface UsedSpan {
  readonly date: string;
  readonly characters: number;
  readonly requests: number;
}

/** `unit` heads the table's first column; spans are in order, with those without usage. `every` so many have a mark. */
function usageChart(id: string, title: string, unit: string, every: number, spans: readonly UsedSpan[]): Html {
  const words = ({ date, characters, requests }: UsedSpan): string =>
    `${date}: ${count(characters)} characters, ${count(requests)} ${requests === 1 ? 'request' : 'requests'}`;
  const marked = spans.map(({ date }, at) => ({ at: at + 0.5, words: date.length > 7 ? date.slice(5) : date }));
  const chart = drawn({
    words: wordsOf(title, spans),
    form: 'bars',
    series: [{ id: 'characters', label: 'Characters', values: spans.map(({ characters }) => characters) }],
    shown: compact,
    tick: 1,
    marks: marked.filter((_, index) => (spans.length - 1 - index) % every === 0),
    spans: spans.map((span, at) => ({ from: at, to: at + 1, words: words(span) })),
  });
  return html`<section class="used" aria-labelledby="${id}">
    <h2 id="${id}">${title} <span class="soft">in characters</span></h2>
    <figure>${chart}</figure>
    <div class="scroll" role="region" tabindex="0" aria-label="${title} as a table">
      ${htmlTable({
        caption: title,
        compact: true,
        columns: [unit, numeric('Characters'), numeric('Requests')],
        rows: spans.toReversed().map(({ date, characters, requests }) => [date, count(characters), count(requests)]),
      })}
    </div>
  </section>`;
}

/** The chart in a sentence, for screen readers. */
function wordsOf(title: string, spans: readonly UsedSpan[]): string {
  const sum = spans.reduce((all, { characters }) => all + characters, 0);
  if (sum === 0) return `${title}: nothing was used.`;
  const [highest] = spans.toSorted((one, other) => other.characters - one.characters);
  return `${title}: ${count(sum)} characters in total; the most, ${count(highest!.characters)}, in ${highest!.date}.`;
}

/** Entries of the audit that are looked through: most are of other changes. */
const ENTRIES_MAX = 200;
const MOVEMENTS_MAX = 50;

interface Movement {
  readonly atMs: number;
  readonly what: string;
  /** Negative for what was deducted or spent. */
  readonly micro: Micro;
  readonly balanceMicro: Micro;
  readonly note: string;
}

function addedIn({ atMs, actor, reason, before, after }: AuditEntry): Movement {
  const { balanceMicro = before.balanceMicro ?? 0 } = after;
  const micro = balanceMicro - (before.balanceMicro ?? 0);
  return { atMs, what: micro > 0 ? 'added' : 'deducted', micro, balanceMicro, note: reason === undefined ? actor : `${actor}: ${reason}` };
}

/** One line for each period, at its end. */
function spentMovement({ startMs, endMs, closed, credit }: PeriodUse): Movement {
  const note = `in the period from ${rfc3339(startMs).slice(0, 10)} to ${rfc3339(endMs).slice(0, 10)}${closed ? '' : ', which is not closed'}`;
  return { atMs: endMs, what: 'spent', micro: -spentIn(credit), balanceMicro: credit.balanceMicro, note };
}

/** `undefined` for a team that has never had any credit, as far as is known. */
export async function teamCredit(team: Team, { context }: SignedInVisit): Promise<Html | undefined> {
  const [entries, periods] = await Promise.all([
    context.options.audit.page({ teamId: team.teamId, after: undefined, sinceMs: undefined, limit: ENTRIES_MAX }),
    context.part('history').periods(team.teamId),
  ]);
  const changed = isUnavailable(entries) ? [] : entries.map(addedIn);
  const spent = periods === undefined || isUnavailable(periods) ? [] : periods.map(spentMovement);
  const all = [...changed, ...spent].filter(({ micro }) => micro !== 0).toSorted((one, other) => other.atMs - one.atMs);
  if (all.length === 0) return undefined;
  const { currency } = team.limits;
  const shown = all.slice(0, MOVEMENTS_MAX);
  const amount = (micro: Micro): string => money(micro < 0 ? -minorRoundedDown(-micro) : minorRoundedDown(micro), currency);
  const rows = shown.map(({ atMs, what, micro, balanceMicro, note }) => [moment(atMs), what, amount(micro), amount(balanceMicro), note]);
  return html`<h2 id="movements">Credit</h2>
    <p>Balance ${money(minorRoundedDown(team.balanceMicro), currency)}. Amounts are rounded down to whole minor units.</p>
    ${htmlTable({ caption: 'Movements of credit, newest first', columns: COLUMNS, rows })}
    ${
      all.length > shown.length
        ? html`<p class="soft">
            ${count(all.length - shown.length)} more are older: see the
            <a href="${CONSOLE_PREFIX}/audit?team=${team.teamId}&amp;action=updateTeam">audit</a> and the
            <a href="${CONSOLE_PREFIX}/invoices">invoices</a>.
          </p>`
        : undefined
    }`;
}

const COLUMNS = ['When', 'What', numeric('Amount'), numeric('Balance after'), freeText('By whom, and why')] as const;
