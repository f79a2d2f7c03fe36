// What operators have changed, newest first.
import type { Static } from 'typebox';
import { AUDIT_ACTIONS, idBefore } from '../../domain/audit-entry.ts';
import type { AuditAction, AuditEntry } from '../../domain/audit-entry.ts';
import { DAY_MS } from '../../domain/period.ts';
import { Type } from '../../domain/typebox.ts';
import { dayOfDate } from '../../domain/usage-days.ts';
import { auditEntryReport } from '../audit-entries.ts';
import { choice, closed, moment, ofTeam, utcDay } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import { operation } from '../operation.ts';

const Values = Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]));
export const Entry = Type.Object({
  at: moment,
  actor: Type.String({ description: '`cli:USER@HOST`, `admin:NAME@ADDRESS` or `console:NAME@ADDRESS`.' }),
  action: Type.String({ description: 'The operationId in the admin API; `sign_in`, `sign_in_refused` or `sign_out` of the console.' }),
  team_id: Type.Union([Type.String(), Type.Null()]),
  key_id: Type.Union([Type.String(), Type.Null()]),
  before: Values,
  after: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()]), {
    description: 'The new values of the members that changed, and the `reason`.',
  }),
});
export type EntryRow = Static<typeof Entry>;

const WORDS: Readonly<Record<AuditAction, string>> = {
  createTeam: 'team created',
  updateTeam: 'team changed',
  applyPlan: 'plan applied',
  deleteTeam: 'team deleted',
  createKey: 'key created',
  updateKey: 'key changed',
  revokeKey: 'key revoked',
  setTag: 'tag limits set',
  deleteTag: 'tag limits removed',
  deleteGlossary: 'glossary deleted',
  clearMemory: 'memory cleared',
  acceptClock: 'clock accepted',
  sign_in: 'signed in',
  sign_in_refused: 'sign-in refused',
  sign_out: 'signed out',
};

const ANY_DAY = { fallback: 'all entries' } as const;

export const listAudit = operation({
  id: 'listAudit',
  command: 'audit list',
  http: 'GET /audit',
  summary: 'Lists what operators have changed, newest first, in pages.',
  about: 'Changes by command line, admin API and console are kept for history.days. A deleted team appears with its id only.',
  examples: [
    'lingate audit list --since 2026-11-01',
    'lingate audit list --actor ops --action revokeKey --day 2026-11-22',
    'lingate audit list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json',
  ],
  input: Type.Object(
    {
      team: ofTeam('changes'),
      actor: Type.Optional(
        Type.String({
          maxLength: 200,
          description: 'Only changes by actors whose name has this in it, for example ops, cli: or 10.0.0.7, in upper or lower case.',
          given: { value: 'TEXT', label: 'Who', attributes: { maxlength: 200, placeholder: 'a name, cli:, an address' } },
        }),
      ),
      action: Type.Optional(choice(AUDIT_ACTIONS, 'Only changes of this kind.', { value: 'ACTION', words: WORDS })),
      day: Type.Optional(
        utcDay('Only changes of this UTC day, for example 2026-11-22.', { ...ANY_DAY, label: 'Day (UTC)', attributes: { type: 'date' } }),
      ),
      since: Type.Optional(utcDay('Only changes since this UTC day, for example 2026-11-22.', { ...ANY_DAY, only: 'command' })),
    },
    closed,
  ),
  row: Entry,
  list: 'entries',
  columns: [
    { head: 'When (UTC)', cell: (row) => ({ kind: 'moment', at: row.at }) },
    { head: 'Who', cell: (row) => row.actor, holds: 'text' },
    { head: 'Action', cell: (row) => ({ kind: 'word', word: row.action, words: WORDS[row.action as AuditAction] }) },
    { head: 'Team', cell: (row) => (row.team_id === null ? undefined : { kind: 'team', id: row.team_id }), holds: 'text' },
    {
      head: 'Key',
      cell: (row) => (row.key_id === null ? undefined : { kind: 'key', id: row.key_id, teamId: row.team_id ?? '' }),
      holds: 'text',
    },
    { head: 'Changed', cell: ({ before, after }) => ({ kind: 'changes', before, after }), holds: 'text' },
  ],
  none: 'No change fits.',
  listing: {
    newestFirst: true,
    read({ options: { audit } }, { team, actor, action, day: date, since }, after, size) {
      // Entries are listed from the newest on: those of a day begin below its end.
      const end = date === undefined ? undefined : idBefore((dayOfDate(date)! + 1) * DAY_MS);
      const first = (one: string | undefined): string | undefined => (end === undefined || (one !== undefined && one < end) ? one : end);
      const from = Math.max(-1, ...[date, since].flatMap((one) => (one === undefined ? [] : dayOfDate(one)!)));
      const sinceMs = from < 0 ? undefined : from * DAY_MS;
      const whose = actor?.toLowerCase();
      const isFiltered = action !== undefined || whose !== undefined;
      const fits = (entry: AuditEntry): boolean =>
        (action === undefined || entry.action === action) && (whose === undefined || entry.actor.toLowerCase().includes(whose));
      return rowsInOrder(
        {
          read: (place, limit) => audit.page({ teamId: team, after: first(place), sinceMs, limit }),
          idOf: ({ id }) => id,
          fits: isFiltered ? fits : undefined,
          rowsOf: (entries) => entries.map(auditEntryReport),
        },
        after,
        size,
      );
    },
  },
});
