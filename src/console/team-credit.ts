// The credit on a team's page: its balance, and each movement of it, newest first: what operators added and deducted, from the
// audit, and what was spent in each period.
import { html } from '../docs/html.ts';
import type { Html } from '../docs/html.ts';
import type { AuditEntry } from '../domain/audit-entry.ts';
import { minorRoundedDown } from '../domain/money.ts';
import type { Micro } from '../domain/money.ts';
import { spentIn, rfc3339 } from '../domain/period.ts';
import type { Team } from '../ports/team-registry.ts';
import type { PeriodUse } from '../ports/usage-history.ts';
import { CONSOLE_PREFIX } from './console-route.ts';
import type { ConsoleParts } from './console-route.ts';
import { freeText, htmlTable, numeric } from './html-table.ts';
import { isUnavailable } from '../domain/store-unavailable.ts';
import { count, moment, money } from './shown.ts';

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

/** `undefined` for a team that has never had any credit, as far as is known. */
export async function teamCredit(team: Team, { context }: Pick<ConsoleParts, 'context'>): Promise<Html | undefined> {
  const [entries, periods] = await Promise.all([
    context.options.audit.page({ teamId: team.teamId, after: undefined, sinceMs: undefined, limit: ENTRIES_MAX }),
    context.part('history').periods(team.teamId),
  ]);
  const changed = isUnavailable(entries) ? [] : entries.flatMap(movementOf);
  const spent = periods === undefined || isUnavailable(periods) ? [] : periods.flatMap(spentMovement);
  const all = [...changed, ...spent].toSorted((one, other) => other.atMs - one.atMs);
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

function movementOf({ atMs, actor, reason, before, after }: AuditEntry): Movement[] {
  const { balanceMicro } = after;
  if (balanceMicro === undefined) return [];
  const micro = balanceMicro - (before.balanceMicro ?? 0);
  if (micro === 0) return [];
  const note = reason === undefined ? actor : `${actor}: ${reason}`;
  return [{ atMs, what: micro > 0 ? 'added' : 'deducted', micro, balanceMicro, note }];
}

/** One line for each period, at its end. */
function spentMovement({ startMs, endMs, closed, credit }: PeriodUse): Movement[] {
  const micro = spentIn(credit);
  if (micro === 0) return [];
  const note = `in the period from ${rfc3339(startMs).slice(0, 10)} to ${rfc3339(endMs).slice(0, 10)}${closed ? '' : ', which is not closed'}`;
  return [{ atMs: endMs, what: 'spent', micro: -micro, balanceMicro: credit.balanceMicro, note }];
}
