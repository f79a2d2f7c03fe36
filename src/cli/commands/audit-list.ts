// lingate audit list: what operators have changed, newest first, read and printed a page at a time.
import { AUDIT_CRITERIA, readAuditFilter } from '../../admin/audit-filter.ts';
import type { AuditFilter } from '../../admin/audit-filter.ts';
import { auditEntryReport } from '../../admin/audit-report.ts';
import type { AuditEntryReport } from '../../admin/audit-report.ts';
import type { AdminOperations } from '../../admin/admin-operations.ts';
import { DAY_MS } from '../../domain/period.ts';
import { dayOfDate } from '../../domain/usage-days.ts';
import type { AuditPage } from '../../ports/audit-log.ts';
import { UsageError } from '../command.ts';
import type { Command } from '../command.ts';
import { given, readTeam } from '../operand.ts';
import { valueOf, withAdmin } from '../with-store.ts';

const PAGE = 500;

export const auditList: Command = {
  usage: '[--team TEAM] [--actor TEXT] [--action ACTION] [--day DAY | --since DAY]',
  about: 'Changes by command line, admin API and console are kept for history.days. A deleted team appears with its id only.',
  flags: {
    team: { kind: 'text', value: 'TEAM', summary: 'only changes of the team with this id', fallback: 'all teams' },
    ...Object.fromEntries(
      Object.entries(AUDIT_CRITERIA).map(([name, { about, value }]) => [
        name,
        { kind: 'text', value, summary: about, fallback: 'all entries' } as const,
      ]),
    ),
    since: {
      kind: 'text',
      value: 'DAY',
      summary: 'only changes since this UTC day, for example 2026-11-22',
      fallback: 'all entries',
    },
  },
  examples: [
    'lingate audit list --since 2026-11-01',
    'lingate audit list --actor ops --action revokeKey --day 2026-11-22',
    'lingate audit list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json',
  ],
  async run(context) {
    const teamId = given(context, 'team', readTeam);
    const sinceMs = given(context, 'since', readDay);
    const filter = readAuditFilter((name) => context.text(name));
    if ('fault' in filter) throw new UsageError(`--${filter.field} ${filter.fault}`);
    await withAdmin(context, async (admin) => {
      const { io, json } = context;
      let first = true;
      for await (const page of pagesOf(admin, { teamId, sinceMs }, filter)) {
        const start = first ? (json ? '{"entries":[' : '') : json ? ',' : '';
        first = false;
        io.out(start + (json ? page.map((entry) => JSON.stringify(entry)).join(',') : page.map((entry) => `${textOf(entry)}\n`).join('')));
      }
      if (json) io.out(`${first ? '{"entries":[' : ''}]}\n`);
      else if (first) io.out('There are no changes.\n');
    });
  },
};

/** A UTC day, as the moment at which it begins. */
function readDay(flag: string, value: string): number {
  const day = dayOfDate(value);
  if (day === undefined)
    throw new UsageError(`--${flag} ${JSON.stringify(value)} is not a day in the form YYYY-MM-DD, for example 2026-11-22`);
  return day * DAY_MS;
}

async function* pagesOf(
  admin: AdminOperations,
  asked: Pick<AuditPage, 'teamId' | 'sinceMs'>,
  filter: AuditFilter,
): AsyncGenerator<readonly AuditEntryReport[]> {
  let after: string | undefined;
  do {
    const { items: entries, next } = valueOf(await admin.audit.list({ ...asked, after, limit: PAGE }, filter));
    if (entries.length > 0) yield entries.map(auditEntryReport);
    after = next;
  } while (after !== undefined);
}

/** `2026-11-22T10:00:00Z  updateTeam  cli:ada@host  team 01…  balance_minor 700 -> 200, reason "…"`. */
function textOf({ at, actor, action, team_id, key_id, before, after }: AuditEntryReport): string {
  const whose = [team_id === null ? [] : [`team ${team_id}`], key_id === null ? [] : [`key ${key_id}`]].flat().join(' ');
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const changes = names.map((name) => {
    const [was, is] = [before[name], after[name]].map((value) => (value === undefined ? undefined : JSON.stringify(value)));
    return was === undefined ? `${name} ${is}` : `${name} ${was} -> ${is ?? 'none'}`;
  });
  return [at, action, actor, whose, changes.join(', ')].join('  ').trimEnd();
}
