// What operators have changed, newest first.
import type { Static } from 'typebox';
import { idBefore } from '../../domain/audit-entry.ts';
import type { AuditEntry, AuditState } from '../../domain/audit-entry.ts';
import { DAY_MS, rfc3339 } from '../../domain/period.ts';
import { planNumbers } from '../../domain/plan.ts';
import { Type } from '../../domain/typebox.ts';
import { dayOfDate } from '../../domain/usage-days.ts';
import { choice, moment, ofTeam, utcDay } from '../fields.ts';
import { rowsInOrder } from '../listing.ts';
import { operation } from '../operation.ts';
import { limitsAudited } from './key-limits.ts';
import { minorRoundedDown } from '../../domain/money.ts';
import { numberChanges } from '../plan-change.ts';
import { operations as glossaries } from './glossaries.ts';
import { operations as keys } from './keys.ts';
import { operations as plans } from './plans.ts';
import { operations as tags } from './tags.ts';
import { operations as teamChanges } from './team-changes.ts';
import { operations as teams } from './teams.ts';

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
type EntryRow = Static<typeof Entry>;

/** Each action in words. The last ones are the command line's and the console's. */
const WORDS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    [...teams, ...teamChanges, ...plans, ...keys, ...glossaries, ...tags].flatMap(({ id, past }) =>
      past === undefined ? [] : [[id, past]],
    ),
  ),
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
  summary: 'Lists what operators have changed, newest first.',
  about: 'Changes by command line, admin API and console are listed for history.days. A deleted team appears with its id only.',
  examples: [
    'lingate audit list --since 2026-11-01',
    'lingate audit list --actor ops --action revokeKey --day 2026-11-22',
    'lingate audit list --team 01JD3Q7V6Y8Z0XKQ4T5N2M9HRC --json',
  ],
  input: {
    team: ofTeam('changes'),
    actor: Type.String({
      maxLength: 200,
      description: 'Only changes by actors whose name contains this, for example ops, cli: or 10.0.0.7, in upper or lower case.',
      given: { value: 'TEXT', label: 'Who', attributes: { maxlength: 200, placeholder: 'a name, cli:, an address' } },
    }),
    action: choice(Object.keys(WORDS), 'Only changes of this kind.', { value: 'ACTION', words: WORDS }),
    day: utcDay('Only changes of this UTC day, for example 2026-11-22.', { ...ANY_DAY, label: 'Day (UTC)', attributes: { type: 'date' } }),
    since: utcDay('Only changes since this UTC day, for example 2026-11-22.', { ...ANY_DAY, only: 'command' }),
  },
  row: Entry,
  list: 'entries',
  columns: [
    { head: 'When (UTC)', cell: (row) => ({ kind: 'moment', at: row.at }) },
    { head: 'Who', cell: (row) => row.actor, holds: 'text' },
    { head: 'Action', cell: (row) => ({ kind: 'word', word: row.action, words: WORDS[row.action] ?? row.action }) },
    { head: 'Team', cell: (row) => (row.team_id === null ? undefined : { kind: 'team', id: row.team_id }), holds: 'text' },
    {
      head: 'Key',
      cell: (row) => (row.key_id === null ? undefined : { kind: 'key', id: row.key_id, teamId: row.team_id ?? '' }),
      holds: 'text',
    },
    { head: 'Changed', cell: ({ before, after }) => ({ kind: 'changes', before, after }), holds: 'text' },
  ],
  none: 'There are no such changes.',
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

type AuditMembers = Readonly<Record<string, string | number>>;

/** As the admin API answers it. */
function auditEntryReport({ atMs, actor, action, teamId, keyId, reason, before, after }: AuditEntry): EntryRow {
  return {
    at: rfc3339(atMs),
    actor,
    action,
    team_id: teamId ?? null,
    key_id: keyId ?? null,
    before: membersOf(before, numbersOf(before, after)),
    after: { ...membersOf(after, numbersOf(after, before)), ...(reason === undefined ? {} : { reason }) },
  };
}

function membersOf(state: AuditState, numbers: AuditMembers): AuditMembers {
  const { limits: _limits, balanceMicro, nextPlan, glossaryId, name, reference, plan, ...key } = state;
  const members = {
    glossary_id: glossaryId,
    name,
    reference,
    plan,
    ...numbers,
    ...(nextPlan && nextPlanMembers(nextPlan)),
    balance_minor: balanceMicro && minorRoundedDown(balanceMicro),
    ...limitsAudited(key),
  };
  return JSON.parse(JSON.stringify(members)) as AuditMembers;
}

/** `next_plan`, and its numbers as `next_characters` and so on. */
function nextPlanMembers({ name, limits }: NonNullable<AuditState['nextPlan']>): AuditMembers {
  const numbers = Object.entries(planNumbers(limits)).map(([number, value]) => [`next_${number}`, value] as const);
  return { next_plan: name, ...Object.fromEntries(numbers) };
}

/** The numbers of a plan that differ from the other side; all of them if that has none. */
function numbersOf({ limits }: AuditState, other: AuditState): AuditMembers {
  if (limits === undefined) return {};
  if (other.limits === undefined) return planNumbers(limits);
  const changes = numberChanges(other.limits, limits);
  return Object.fromEntries(changes.flatMap(({ number, to }) => (to === null ? [] : [[number, to]])));
}

export const operations = [listAudit];
